// `npm test`: everything that CI runs. Static checks count as one test each.
// `npm test -- <jest arguments>` runs only the matching jest tests.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { startClusterForTests } from './lib/cluster-for-tests.mjs';
import { contractBaseline } from './lib/contract-baseline.mjs';
import { build, CLUSTER_PROJECTS, nx } from './lib/nx.mjs';
import { exitOnFailure, root, runVisibly } from './lib/run.mjs';
import { makeTestFolder } from './lib/test-folder.mjs';

/** Targets of the project `workspace`. */
const CHECKS = ['lint', 'unused-code', 'spelling', 'typecheck', 'format-check', 'contracts-check'];

const jestArguments = process.argv.slice(2);

/** Ninety seconds, each time of other faults; what fails prints its seed. */
const SHORT_CHAOS = ['--minutes', '1.5', '--pause', '8', '--cut', '5', '--books-only'];

/** They start a cluster of their own, so only the run of the cluster has them. */
const OWN_CLUSTER_SUITES = ['tools/verify/cluster/src/old-beside-new', 'tools/verify/chaos/src/losses'];
/** Guarantees of the request path, which must hold in both deployments. Other suites are about one process, its memory and start, or the dashboard. */
const CLUSTER_SUITES = [
  ...OWN_CLUSTER_SUITES,
  'apps/e2e/conformance',
  'apps/e2e/src/(bad-input|bodies|lenient|money|openapi|restrictions|sdk|slow-streams|token-counts|traces)',
  'apps/e2e/src/clients/openai-node',
  // Some start a cluster with their own settings; two clusters that start at once starve each other.
  '--maxWorkers=1',
];
const totals = { passed: 0, failed: 0, skipped: 0 };

try {
  await build('gateway', 'model-emulator', 'demo', 'bench', 'e2e', 'chaos', ...CLUSTER_PROJECTS);
  makeTestFolder();
  if (jestArguments.length > 0) {
    await runJest(jestArguments);
  } else {
    await runChecks();
    await testEmbedded();
    await testCluster();
  }
} catch (error) {
  exitOnFailure(error);
}

const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
say(`\n${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);

async function runChecks() {
  const code = await nx('run-many', '--projects=workspace', `--targets=${CHECKS}`, '--output-style=static');
  totals[code === 0 ? 'passed' : 'failed'] += code === 0 ? CHECKS.length : 1;
  // Services of two versions run side by side during an upgrade, so contracts only grow.
  const baseline = await contractBaseline();
  if (baseline === undefined) return say('SKIPPED: there is no history to compare the contracts with.');
  const buf = path.join('node_modules', '@bufbuild', 'buf', 'bin', 'buf');
  const breaking = await runVisibly(process.execPath, [buf, 'breaking', '--against', `.git#ref=${baseline}`]);
  totals[breaking === 0 ? 'passed' : 'failed'] += 1;
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

function testEmbedded() {
  return runJest(
    ['/node_modules/', ...OWN_CLUSTER_SUITES].flatMap((each) => ['--testPathIgnorePatterns', each]),
  );
}

/** The end-to-end tests once more, with every service in processes of its own, and a short chaos. */
async function testCluster() {
  const missing = ['redis-server', 'java'].filter((program) => !isOnPath(program));
  if (missing.length > 0 && process.env.CI !== 'true') {
    say(`SKIPPED: the tests of the cluster need ${missing.join(' and ')}.`);
    totals.skipped += 1;
    return;
  }
  const cluster = await startClusterForTests({
    withPooler: isOnPath('pgbouncer') || process.env.CI === 'true',
  });
  try {
    await runJest(
      CLUSTER_SUITES,
      { GATEWAY_TEST_DEPLOYMENT: 'cluster', GATEWAY_TEST_CLUSTER: cluster.description },
      'cluster',
    );
  } finally {
    await cluster.stop();
  }
  const code = await runVisibly(process.execPath, ['dist/chaos/main.js', ...SHORT_CHAOS]);
  totals[code === 0 ? 'passed' : 'failed'] += 1;
}

/** Debian keeps servers where only root looks. */
function isOnPath(program) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.some((folder) => existsSync(path.join(folder, program)));
}

/** @param of deployment; part of the results' file name. */
async function runJest(chosen, env = {}, of = 'embedded') {
  const resultsFile = path.join(root, 'dist', `test-results-${of}.json`);
  rmSync(resultsFile, { force: true });
  const code = await runVisibly(
    process.execPath,
    [
      path.join('node_modules', 'jest', 'bin', 'jest.js'),
      '--json',
      `--outputFile=${resultsFile}`,
      ...(process.env.CI === 'true' ? ['--ci'] : []),
      ...chosen,
    ],
    env,
  );
  const results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : undefined;
  totals.passed += results?.numPassedTests ?? 0;
  totals.skipped += (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  // A suite that does not even load has no failed test of its own; jest's exit code then still says no.
  const failed = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  totals.failed += code !== 0 && failed === 0 ? 1 : failed;
}
