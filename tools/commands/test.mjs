// `npm test`: everything that CI runs. Each static check counts as one test.
// `npm test -- <jest arguments>` runs only the matching jest tests.
// `GATEWAY_TEST_NODES=/path/to/oldest/node:/path/to/other/node` repeats some suites on further Node versions. Those between the
// oldest and the one that runs everything get fewer.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import jestConfig from '../../jest.config.mjs';
import { contractBaseline } from './lib/contract-baseline.mjs';
import { createInitialState } from './lib/initial-state.mjs';
import { build, CLUSTER_PROJECTS, nxCommand } from './lib/nx.mjs';
import { breakingChanges } from './lib/openapi-breaking.mjs';
import { packGateway } from './lib/package-files.mjs';
import { capture, exitOnFailure, root, runVisibly } from './lib/run.mjs';
import { startSharedGateway } from './lib/shared-gateway-for-tests.mjs';
import { makeTestFolder } from './lib/test-folder.mjs';

/** Targets of the project `workspace`. */
const CHECKS = ['lint', 'unused-code', 'spelling', 'typecheck', 'format-check', 'contracts-check'];

const DASHBOARD_DOCUMENT = 'docs/reference/dashboard-openapi.json';

const jestArguments = process.argv.slice(2);

/** The exit code of `npm run audit` where the registry publishes no advisories. */
const NO_ADVISORIES = 3;

/** 90 seconds of random faults; a failure prints its seed. */
const SHORT_CHAOS = ['--minutes', '1.5', '--pause', '8', '--cut', '5', '--skip-throughput'];
const SCENARIOS = 'redis-sentinel+kafka-leader+postgres-asynchronous';
const SHORT_FAILOVERS = ['--lab', 'failover', '--only', SCENARIOS, '--skip-throughput'];

/** These start their own cluster, so they run only with the cluster suites. */
const OWN_CLUSTER_SUITES = ['tools/verify/cluster/src/mixed-versions', 'tools/verify/chaos/src/recovery'];
/** Guarantees that the calls between services could break. What a single service does is tested in one process. */
const CLUSTER_SUITES = [
  ...OWN_CLUSTER_SUITES,
  'apps/e2e/conformance',
  'apps/e2e/src/(bad-input|fairness|money|openapi|restrictions|resumption|sdk|slow-streams|traces)',
  // Some start a cluster with their own settings; two clusters that start concurrently starve each other.
  '--maxWorkers=1',
];
/** The built gateway, as people start it: servers, streams, sockets and the package. */
const BUILT_GATEWAY = ['apps/gateway/src/npm-start', 'apps/e2e/src/(bodies|package|sdk|slow-streams)'];
/** Suites that Node's version can change: also threads, ciphers and everything that is close to Node. */
const NEAR_NODE = [
  ...BUILT_GATEWAY,
  'libs/domains/.*/src/adapters/',
  'libs/domains/edge-proxy/src/service/',
  'libs/platform/(actors|certificates|events|http-server|module|process|rpc|runtime|secrets|telemetry|webhooks)/',
];
const ON_OTHER_NODES = [
  // These test PostgreSQL, Redis and Kafka more than Node.
  '--testPathIgnorePatterns=(?<!npm-start)\\.int\\.spec',
  // With more workers, the deadlines of these and of the cluster suites would expire.
  '--maxWorkers=1',
];

const totals = { passed: 0, skipped: 0 };
/** The names of failed tests and checks, which are printed once more at the end. */
const failures = [];

try {
  await build(
    'gateway',
    'model-emulator',
    'demo',
    'certificates',
    'bench',
    'e2e',
    'chaos',
    'models',
    ...CLUSTER_PROJECTS,
  );
  makeTestFolder();
  if (jestArguments.length > 0) {
    await runJest(jestArguments);
  } else {
    const [initialState, archive] = await Promise.all([
      createInitialState(),
      packGateway(path.join(process.env.TMPDIR, 'package')),
    ]);
    process.env.GATEWAY_TEST_INITIAL_STATE = initialState;
    process.env.GATEWAY_TEST_PACKAGE = archive;
    // The tests wait for part of the time, which is enough for the checks.
    const [checks] = await Promise.all([runChecks(), testEmbedded(initialState)]);
    say(checks);
    // The cluster suites mostly wait: the quick tests use the processor time that they leave.
    const [hasCluster] = await Promise.all([testCluster(), testOtherNodes()]);
    if (hasCluster) await testFaults();
  }
} catch (error) {
  exitOnFailure(error);
}

const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
for (const failure of failures) say(`FAILED: ${failure}`);
say(`\n${totals.passed} passed, ${failures.length} failed${skipped}`);
process.exit(failures.length > 0 || totals.passed === 0 ? 1 : 0);

/** @param count of the tests that passed if the check did. */
function record(name, hasPassed, count = 1) {
  if (hasPassed) totals.passed += count;
  else failures.push(name);
}

/** @returns their output */
async function runChecks() {
  await auditDependencies();
  const [command, args, env] = nxCommand(
    'run-many',
    '--projects=workspace',
    `--targets=${CHECKS}`,
    '--output-style=static',
    // Restoring generated code, which the build has just written, would remove it for a moment while tests load it.
    '--excludeTaskDependencies',
  );
  const { code, output } = await capture(command, args, env, { isLowPriority: true });
  record(`a check of ${CHECKS.join(', ')}`, code === 0, CHECKS.length);
  // Two versions run side by side during an upgrade, so contracts must stay backward compatible.
  const baseline = await contractBaseline();
  if (baseline === undefined)
    return `${output}SKIPPED: contract compatibility (no git history to compare with)\n`;
  const buf = path.join('node_modules', '@bufbuild', 'buf', 'bin', 'buf');
  const breaking = await capture(process.execPath, [buf, 'breaking', '--against', `.git#ref=${baseline}`]);
  record('compatibility of proto/', breaking.code === 0);
  return output + breaking.output + (await compareDashboardContracts(baseline));
}

/** The endpoints that owners serve are no messages of proto/, so their document is compared. @returns its output */
async function compareDashboardContracts(baseline) {
  const { code, output } = await capture('git', ['show', `${baseline}:${DASHBOARD_DOCUMENT}`]);
  if (code !== 0) return '';
  const changes = breakingChanges(JSON.parse(output), JSON.parse(readFileSync(DASHBOARD_DOCUMENT, 'utf8')));
  record(`compatibility of ${DASHBOARD_DOCUMENT}`, changes.length === 0);
  return changes.map((change) => `${DASHBOARD_DOCUMENT}: ${change}\n`).join('');
}

async function auditDependencies() {
  const code = await runVisibly(process.execPath, ['tools/commands/audit.mjs']);
  if (code === NO_ADVISORIES) totals.skipped += 1;
  else record('npm run audit', code === 0);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

/** Each of jest's workers has a gateway that its suites share. */
async function testEmbedded(initialState) {
  const gateways = [];
  try {
    for (let worker = 0; worker < jestConfig.maxWorkers; worker += 1)
      gateways.push(await startSharedGateway('gateway', { initialState }));
    await runJest(
      ['/node_modules/', ...OWN_CLUSTER_SUITES].flatMap((each) => ['--testPathIgnorePatterns', each]),
      { GATEWAY_TEST_SHARED: JSON.stringify(gateways.map(({ description }) => description)) },
    );
  } finally {
    for (const gateway of gateways) await gateway.stop();
  }
}

/** Repeats the end-to-end tests with every service in its own process. @returns whether this machine can */
async function testCluster() {
  const missing = ['redis-server', 'java'].filter((program) => !isOnPath(program));
  if (missing.length > 0 && process.env.CI !== 'true') {
    say(`SKIPPED: cluster tests (${missing.join(' and ')} not found on the PATH)`);
    totals.skipped += 1;
    return false;
  }
  const hasPooler = isOnPath('pgbouncer') || process.env.CI === 'true';
  const cluster = await startSharedGateway('cluster', { options: hasPooler ? ['--pooler'] : [] });
  try {
    await runJest(
      CLUSTER_SUITES,
      { GATEWAY_TEST_DEPLOYMENT: 'cluster', GATEWAY_TEST_SHARED: JSON.stringify([cluster.description]) },
      'cluster',
    );
  } finally {
    await cluster.stop();
  }
  return true;
}

/** Short chaos and failover tests. Their load would starve other tests. */
async function testFaults() {
  for (const options of [SHORT_CHAOS, SHORT_FAILOVERS]) {
    const code = await runVisibly(process.execPath, ['dist/chaos/main.js', ...options]);
    record(`npm run chaos -- ${options.join(' ')}`, code === 0);
  }
}

async function testOtherNodes() {
  const nodes = (process.env.GATEWAY_TEST_NODES ?? '').split(path.delimiter).filter((node) => node !== '');
  for (const [index, node] of nodes.entries()) {
    const env = { PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` };
    const suites = [...(index === 0 ? NEAR_NODE : BUILT_GATEWAY), ...ON_OTHER_NODES];
    await runJest(suites, env, `node-${index}`, async (_node, jest) => {
      const { code, output } = await capture(node, jest, env);
      const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
      say(`Tests on Node ${stdout}\n${output}`);
      return code;
    });
  }
}

/** Debian installs servers in folders that are on root's PATH only. */
function isOnPath(program) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.some((folder) => existsSync(path.join(folder, program)));
}

/**
 * @param run part of the results' file name.
 * @param start runs Node.js with jest's arguments; returns its exit code.
 */
async function runJest(selection, env = {}, run = 'embedded', start = runVisibly) {
  const resultsFile = path.join(root, 'dist', `test-results-${run}.json`);
  rmSync(resultsFile, { force: true });
  const jest = [
    // Fewer garbage collections, also in jest's workers: 5 % less processor time.
    '--max-semi-space-size=64',
    path.join('node_modules', 'jest', 'bin', 'jest.js'),
    '--json',
    `--outputFile=${resultsFile}`,
    ...(process.env.CI === 'true' ? ['--ci'] : []),
    ...selection,
  ];
  const code = await start(process.execPath, jest, env);
  const results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : undefined;
  totals.passed += results?.numPassedTests ?? 0;
  totals.skipped += (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  const failed = results?.testResults.flatMap(failuresOf) ?? [];
  failures.push(...failed.map((name) => `${run}: ${name}`));
  if (code !== 0 && failed.length === 0) failures.push(`${run}: jest ended with exit code ${code}`);
}

/** The names of a suite's failed tests. A suite that cannot be loaded has none, so its own name. */
function failuresOf({ name, status, assertionResults }) {
  const file = path.relative(root, name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (status === 'failed' && failed.length === 0) return [file];
  return failed.map(({ fullName }) => `${file} › ${fullName}`);
}
