import { writeFileSync } from 'node:fs';
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
  type SlowRow,
} from './measure';
import { measurePaced } from './measure-paced';
import { checkMoney, type MoneyCheck } from './money-check';
import { HELP, readOptions, type CommandName, type Options } from './options';
import { renderPeers } from './peers/render-peers';
import { runPeers } from './peers/run-peers';
import { Processes } from './processes';
import { runProfile } from './profile/run-profile';
import { judge, renderReport, type Results } from './report';
import { startExpressProxy } from './roles/express-proxy';
import type { RunningRole } from './roles/listen';
import { startNodeProxy } from './roles/node-proxy';
import { startRelay } from './roles/relay';
import { startUpstream } from './roles/upstream';
import { startTargets, type StartedTargets } from './targets';

const USAGE_EXIT_CODE = 2;

/** The bench starts itself again for each of these. */
const ROLES: Readonly<Record<string, (upstream: string) => Promise<RunningRole>>> = {
  upstream: startUpstream,
  node: startNodeProxy,
  express: startExpressProxy,
  relay: startRelay,
};

/** What each command prints. The ledger's code is loaded by those that use it, not by the proxies that are measured. */
const COMMANDS: Readonly<Record<CommandName, (options: Options) => Promise<string>>> = {
  compare,
  ab: compare,
  paced,
  async peers(options) {
    const results = await withPinned((processes, cores) => runPeers(options, processes, cores, say));
    finish(options, results);
    return renderPeers(results);
  },
  async statements(options) {
    const { runStatements } = await import('./statements/run-statements');
    return withPinned((processes, cores) => runStatements(options, processes, cores));
  },
  profile: (options) => withPinned((processes, cores) => runProfile(options, processes, cores, say)),
  cluster: async (options) => renderDeployments(await measureClusters(options, withProcesses, say)),
  async history({ historyRows, historyParts }) {
    const { measureHistory, renderHistory } = await import('./history/measure-history');
    const marks = [Math.ceil(historyRows / 10), historyRows];
    return renderHistory(await measureHistory(marks, historyParts, say));
  },
};

async function main(argv: readonly string[]): Promise<void> {
  if (argv[0] === '--role') return playRole(argv[1] ?? '', argv[2] ?? '');
  const options = readOrExit(argv);
  const text = await COMMANDS[options.command](options);
  process.stdout.write(`\n${text}`);
}

/** Gateway, bare proxies and upstream in every scenario. */
function compare(options: Options): Promise<string> {
  return withTargets(options, async ({ targets }) => {
    // A relay that reads nothing is what a chunk is compared with, and nothing else.
    const compared = targets.filter(({ name }) => name !== 'relay');
    // First, while nothing else has let their memory grow.
    const slowStreams: SlowRow[] = [];
    for (const target of compared.filter(({ name }) => name !== 'upstream')) {
      say(`Measuring: ${options.slowStreams.toLocaleString('en')} slow streams, ${target.name}`);
      slowStreams.push(await measureSlowStreams(target, options));
    }
    say('Warming up');
    await compile(compared, options);
    say('Measuring: paced chunks');
    const pacedRows = await measurePaced(
      targets.filter(({ name }) => name !== 'upstream'),
      options,
    );
    const rows: Row[] = [];
    for (const scenario of SCENARIOS) {
      say(`Measuring: ${scenarioName(scenario)}`);
      rows.push(...(await measureScenario(scenario, compared, options)));
    }
    return { rows, slowStreams, paced: pacedRows };
  });
}

function paced(options: Options): Promise<string> {
  return withTargets(options, async ({ targets }) => {
    say('Measuring: paced chunks');
    const proxies = targets.filter(({ name }) => name !== 'upstream');
    return { rows: [], slowStreams: [], paced: await measurePaced(proxies, options) };
  });
}

/** Starts the targets, measures, checks the money and renders the report. */
function withTargets(
  options: Options,
  measure: (started: StartedTargets) => Promise<Pick<Results, 'rows' | 'slowStreams' | 'paced'>>,
): Promise<string> {
  const startedAt = new Date().toISOString();
  return withPinned(async (processes, cores) => {
    say('Starting the upstream and the targets');
    const started = await startTargets(options, processes, cores);
    const measured = await measure(started);
    const { targets, gateway } = started;
    const tally = targets.find(({ name }) => name === 'gateway')?.tally;
    const money = gateway === undefined || tally === undefined ? null : await checkMoney(gateway, tally);
    const aims = judge(measured.rows, measured.slowStreams, measured.paced);
    const results = { machine: machineFacts(cores), startedAt, ...measured, money, aims };
    finish(options, results);
    return renderReport(results);
  });
}

/** Writes the results down; money that is not exact is a failure of the gateway. */
function finish({ jsonFile }: Options, results: { readonly money: MoneyCheck | null }): void {
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify(results, null, 2)}\n`);
  if (results.money?.exact === false) process.exitCode = 1;
}

/** The bench itself stays off the core of what it measures. */
function withPinned<T>(work: (processes: Processes, cores: Cores | undefined) => Promise<T>): Promise<T> {
  const cores = findCores();
  if (cores !== undefined) pin(process.pid, cores.others);
  return withProcesses(cores, (processes) => work(processes, cores));
}

/** Serves as one of the roles, tells the parent process the port, and ends with the parent. */
async function playRole(name: string, upstream: string): Promise<void> {
  const start = ROLES[name];
  if (start === undefined) throw new Error(`no role '${name}'`);
  process.once('disconnect', () => process.exit(0));
  const { port } = await start(upstream);
  process.send?.({ port });
}

/** Whatever `work` starts is stopped at its end. */
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

function readOrExit(argv: readonly string[]): Options {
  try {
    const options = readOptions(argv);
    if (options !== 'help') return options;
    process.stdout.write(HELP);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    process.exit(USAGE_EXIT_CODE);
  }
}

function say(text: string): void {
  process.stderr.write(`${text} …\n`);
}

/** On Ctrl-C everything that was started is stopped before the bench ends. */
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
