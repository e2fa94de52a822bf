import { writeFileSync } from 'node:fs';
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
import { hostileBodies } from './hostile-bodies';
import { measureBodies, renderBodies } from './measure-bodies';
import { measurePaced, type PacedRow } from './measure-paced';
import { checkMoney, type MoneyCheck } from './money-check';
import { ordinaryBodies } from './ordinary-bodies';
import { HELP, readOptions, type Options } from './options';
import { Processes } from './processes';
import { judge, renderReport, type Results } from './report';
import { startExpressProxy } from './roles/express-proxy';
import { type RunningRole } from './roles/listen';
import { startNodeProxy } from './roles/node-proxy';
import { startRelay } from './roles/relay';
import { startRpcServer } from './roles/rpc-server';
import { startUpstream } from './roles/upstream';
import { startTargets } from './targets';
import { measureTokenizer, renderTokenizer } from './tokenizer';

/** The bench starts itself again for each of these. */
const ROLES: Readonly<Record<string, (upstream: string) => Promise<RunningRole>>> = {
  upstream: startUpstream,
  node: startNodeProxy,
  express: startExpressProxy,
  relay: startRelay,
  rpc: startRpcServer,
};

async function main(argv: readonly string[]): Promise<void> {
  if (argv[0] === '--role') {
    await playRole(argv[1] ?? '', argv[2] ?? '');
    return;
  }
  if (argv[0] === '--ledger-load') {
    await playLedger(argv[1] ?? '');
    return;
  }
  const options = optionsOrUsage(argv);
  if (options === 'misused') return;
  if (options === undefined) {
    process.stdout.write(HELP);
    return;
  }
  if (options.isTokenizerOnly) {
    process.stdout.write(renderTokenizer(await measureTokenizer()));
    return;
  }
  if (options.bodies !== undefined) {
    const bodies = options.bodies === 'hostile' ? hostileBodies : ordinaryBodies;
    const rows = await withProcesses(undefined, (processes) => measureBodies(processes, bodies, say));
    process.stdout.write(`\n${renderBodies(rows)}`);
    return;
  }
  if (options.historyRows !== undefined) {
    const { measureHistory, renderHistory } = await import('./scale/measure-history');
    const marks = [Math.ceil(options.historyRows / 10), options.historyRows];
    process.stdout.write(`\n${renderHistory(await measureHistory(marks, options.historyParts, say))}`);
    return;
  }
  if (options.isCluster) {
    const { measureClusters, renderClusters } = await import('./scale/measure-clusters');
    process.stdout.write(`\n${renderClusters(await measureClusters(options, withProcesses, say))}`);
    return;
  }
  if (options.isRpcOnly) {
    const { measureRpc, renderRpc } = await import('./scale/measure-rpc');
    process.stdout.write(`\n${renderRpc(await withProcesses(undefined, measureRpc))}`);
    return;
  }
  const { organizations, isHot } = options;
  if (organizations !== undefined) {
    const { measureHot, renderHot } = await import('./scale/measure-hot');
    const figures = await withProcesses(undefined, (processes) =>
      measureHot({ organizations, isHot }, processes, say),
    );
    process.stdout.write(`\n${renderHot(figures)}`);
    return;
  }
  if (options.isConditions) {
    const { runConditions } = await import('./conditions/run-conditions');
    const { renderConditions } = await import('./conditions/render-conditions');
    const results = await withPinned((processes, cores) => runConditions(options, processes, cores, say));
    process.stdout.write(`\n${renderConditions(results)}`);
    finish(options, results);
    return;
  }
  if (options.isStatements) {
    const { runStatements } = await import('./statements/run-statements');
    const text = await withPinned((processes, cores) => runStatements(options, processes, cores));
    process.stdout.write(`\n${text}`);
    return;
  }
  if (options.isProfile) {
    const { runProfile } = await import('./profile/run-profile');
    const text = await withPinned((processes, cores) => runProfile(options, processes, cores, say));
    process.stdout.write(`\n${text}`);
    return;
  }
  if (options.isPeers) {
    const { runPeers } = await import('./peers/run-peers');
    const { renderPeers } = await import('./peers/render-peers');
    const results = await withPinned((processes, cores) => runPeers(options, processes, cores, say));
    process.stdout.write(`\n${renderPeers(results)}`);
    finish(options, results);
    return;
  }
  const results = await bench(options);
  process.stdout.write(`\n${renderReport(results)}`);
  finish(options, results);
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

/** Serves as one of several ledgers with its callers, tells the parent process the figures, and ends. */
async function playLedger(order: string): Promise<void> {
  process.once('disconnect', () => process.exit(1));
  const { runLedgerLoad } = await import('./scale/ledger-load');
  // Whatever fails ends the process at once: callers that go on would hold it up.
  const figures = await runLedgerLoad(JSON.parse(order)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  });
  process.send?.(figures, () => process.exit(0));
}

async function bench(options: Options): Promise<Results> {
  const startedAt = new Date().toISOString();
  return withPinned(async (processes, cores) => {
    const machine = machineFacts(cores);
    say('Starting the upstream and the targets');
    const { targets, gateway } = await startTargets(options, processes, cores);
    const proxies = targets.filter(({ name }) => name !== 'upstream');
    // A relay that reads nothing is what a chunk is compared with, and nothing else.
    const measured = proxies.filter(({ name }) => name !== 'relay');
    // First, while nothing else has let their memory grow.
    const slowStreams: SlowRow[] = [];
    for (const target of options.part === 'paced chunks' ? [] : measured) {
      say(`Measuring: ${options.slowStreams.toLocaleString('en')} slow streams, ${target.name}`);
      slowStreams.push(await measureSlowStreams(target, options));
    }
    const compared = targets.filter(({ name }) => name !== 'relay');
    const scenarios = options.part === undefined ? SCENARIOS : [];
    if (scenarios.length > 0) {
      say('Warming up');
      await compile(compared, options);
    }
    let paced: PacedRow[] = [];
    if (options.part !== 'slow streams') {
      say('Measuring: paced chunks');
      paced = await measurePaced(proxies, options);
    }
    const rows: Row[] = [];
    for (const scenario of scenarios) {
      say(`Measuring: ${scenarioName(scenario)}`);
      rows.push(...(await measureScenario(scenario, compared, options)));
    }
    const tally = targets.find(({ name }) => name === 'gateway')?.tally;
    const money = gateway === undefined || tally === undefined ? null : await checkMoney(gateway, tally);
    const aims = judge(rows, slowStreams, paced);
    return { machine, startedAt, rows, slowStreams, paced, money, aims };
  });
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

/** What cannot be understood is answered with the usage, not with a stack. */
function optionsOrUsage(argv: readonly string[]): Options | undefined | 'misused' {
  try {
    return readOptions(argv);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    process.exitCode = 2;
    return 'misused';
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
