import { writeFileSync } from 'node:fs';
import { readOptionsOrExit } from '@gateway/test-support';
import { measureClusters } from './cluster/measure-clusters';
import { renderDeployments } from './cluster/deployments';
import { findCores, machineFacts, pin, type Cores } from './machine';
import {
  compile,
  measureScenario,
  measureSlowStreams,
  scenarioName,
  SCENARIOS,
  type Row,
  type SlowStreamsRow,
} from './measure';
import { measurePaced } from './measure-paced';
import { checkCharges, type ChargesCheck } from './check-charges';
import { HELP, readOptions, type CommandName, type Options } from './options';
import { renderPeers } from './peers/render-peers';
import { runPeers } from './peers/run-peers';
import { Processes } from './processes';
import { evaluateTargets, renderReport, type Results } from './report';
import { startExpressProxy } from './roles/express-proxy';
import type { RunningRole } from './roles/listen';
import { startLeanProxy } from './roles/lean-proxy';
import { startNodeProxy } from './roles/node-proxy';
import { startRelay } from './roles/relay';
import { startUpstream } from './roles/upstream';
import { startTargets, type Target } from './targets';

/** Roles that the bench runs in child processes of itself. */
const ROLES: Readonly<Record<string, (upstream: string) => Promise<RunningRole>>> = {
  upstream: startUpstream,
  node: startNodeProxy,
  express: startExpressProxy,
  lean: startLeanProxy,
  relay: startRelay,
};

/** Each command returns its report. The ledger's code is imported lazily, so that the measured proxies do not load it. */
const COMMANDS: Readonly<Record<CommandName, (options: Options) => Promise<string>>> = {
  ab: compare,
  async peers(options) {
    const results = await withPinned((processes, cores) => runPeers(options, processes, cores, say));
    finish(options, results);
    return renderPeers(results);
  },
  cluster: async (options) => renderDeployments(await measureClusters(options, withProcesses, say)),
  async ledger(options) {
    const { runLedger } = await import('./ledger/run-ledger');
    return runLedger(options, say);
  },
};

async function main(argv: readonly string[]): Promise<void> {
  if (argv[0] === '--role') return runRole(argv[1] ?? '', argv[2] ?? '');
  const options = readOptionsOrExit(() => readOptions(argv), HELP);
  const text = await COMMANDS[options.command](options);
  process.stdout.write(`\n${text}`);
}

/** Gateway, that of the other build, bare proxies and upstream in every scenario. */
function compare(options: Options): Promise<string> {
  const startedAt = new Date().toISOString();
  return withPinned(async (processes, cores) => {
    say('Starting the upstream and the targets');
    const { targets, gateway } = await startTargets(options, processes, cores);
    const measured = await measureTargets(targets, options);
    const tally = targets.find(({ name }) => name === 'gateway')?.tally;
    const charges = gateway === undefined || tally === undefined ? null : await checkCharges(gateway, tally);
    const performanceTargets = evaluateTargets(measured.rows, measured.slowStreams, measured.paced);
    const results = { machine: machineFacts(cores), startedAt, ...measured, charges, performanceTargets };
    finish(options, results);
    return renderReport(results);
  });
}

async function measureTargets(
  targets: readonly Target[],
  options: Options,
): Promise<Pick<Results, 'rows' | 'slowStreams' | 'paced'>> {
  // The relay is the baseline of paced chunks only.
  const compared = targets.filter(({ name }) => name !== 'relay');
  const proxies = targets.filter(({ name }) => name !== 'upstream');
  // First, before other load has increased memory use.
  const slowStreams: SlowStreamsRow[] = [];
  for (const target of compared.filter(({ name }) => name !== 'upstream')) {
    say(`Measuring: ${options.slowStreams.toLocaleString('en')} slow streams, ${target.name}`);
    slowStreams.push(await measureSlowStreams(target, options));
  }
  say('Warming up');
  await compile(compared, options);
  say('Measuring: paced chunks');
  const paced = await measurePaced(proxies, options);
  const rows: Row[] = [];
  for (const scenario of SCENARIOS) {
    say(`Measuring: ${scenarioName(scenario)}`);
    rows.push(...(await measureScenario(scenario, compared, options)));
  }
  return { rows, slowStreams, paced };
}

/** Writes the results to a file; inexact charges set the exit code. */
function finish({ jsonFile }: Options, results: { readonly charges: ChargesCheck | null }): void {
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify(results, null, 2)}\n`);
  if (results.charges?.exact === false) process.exitCode = 1;
}

/** Keeps the bench itself off the core of the measured process. */
function withPinned<T>(work: (processes: Processes, cores: Cores | undefined) => Promise<T>): Promise<T> {
  const cores = findCores();
  if (cores !== undefined) pin(process.pid, cores.others);
  return withProcesses(cores, (processes) => work(processes, cores));
}

/** Runs one of the roles, sends its port to the parent process, and exits with the parent. */
async function runRole(name: string, upstream: string): Promise<void> {
  const start = ROLES[name];
  if (start === undefined) throw new Error(`unknown role '${name}'`);
  process.once('disconnect', () => process.exit(0));
  const { port } = await start(upstream);
  process.send?.({ port });
}

/** Stops all processes that `work` has started. */
async function withProcesses<T>(
  cores: Cores | undefined,
  work: (processes: Processes) => Promise<T>,
): Promise<T> {
  const processes = new Processes(cores);
  stopOnSignals(processes);
  try {
    return await work(processes);
  } catch (error) {
    process.stderr.write(processes.output());
    throw error;
  } finally {
    await processes.stopAll();
  }
}

function say(text: string): void {
  process.stderr.write(`${text} …\n`);
}

/** Stops all processes before exiting on a signal. */
function stopOnSignals(processes: Processes): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      process.stderr.write('\nStopping …\n');
      void processes.stopAll().finally(() => process.exit(130));
    });
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
