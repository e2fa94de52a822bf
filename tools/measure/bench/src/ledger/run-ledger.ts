import { openBenchDatabase } from '../bench-database';
import { machineFacts } from '../machine';
import { quantile } from '../measure';
import type { Options } from '../options';
import { renderTable } from '../report';
import { checkLedger } from './check-ledger';
import { openLedger, WORKLOADS, type Round, type Scenario } from './measure-ledger';
import { ACTIVITIES, type Activity } from './sample-waits';

/** The last is a full batch, as of a ledger with a queue. */
const LOADS: readonly Omit<Scenario, 'workload'>[] = [
  { connections: 1, batch: 64 },
  { connections: 2, batch: 64 },
  { connections: 8, batch: 64 },
  { connections: 2, batch: 500 },
];
const SCENARIOS: readonly Scenario[] = WORKLOADS.flatMap((workload) =>
  LOADS.map((load) => ({ workload, ...load })),
);

/** Reports how many generations per second one database holds and settles. Sets the exit code if the ledger is not exact. */
export async function runLedger(options: Options, say: (text: string) => void): Promise<string> {
  const database = await openBenchDatabase();
  try {
    const ledger = await openLedger(database);
    const rounds = new Map<Scenario, Round[]>(SCENARIOS.map((scenario) => [scenario, []]));
    for (let number = 0; number < options.rounds; number++) {
      for (const [scenario, measured] of rounds) {
        say(
          `Measuring: ${scenario.workload}, ${scenario.connections} connections, batches of ${scenario.batch}`,
        );
        measured.push(await ledger.measure(scenario, options));
      }
    }
    await ledger.close();
    say('Auditing');
    const settled = [...rounds.values()].flat().reduce((sum, round) => sum + round.settled, 0);
    const check = await checkLedger(database, settled);
    if (!check.exact) process.exitCode = 1;
    const { rows } = await database.ledgerPool.query<{ server_version: string }>('show server_version');
    const { cpu, cores, node } = machineFacts(undefined);
    const machine = `${cpu}, ${cores} cores for everything, Node ${node}, PostgreSQL ${rows[0]?.server_version}`;
    return `${machine}\n\n${renderLedger(rounds)}\n\nLedger: ${check.text}\n`;
  } finally {
    await database.remove();
  }
}

function renderLedger(rounds: ReadonlyMap<Scenario, readonly Round[]>): string {
  const head = [
    '',
    'connections',
    'batch',
    'generations/s',
    'hold p50 ms',
    'settle p50 ms',
    'DB µs/generation',
    'WAL bytes/generation',
  ];
  return renderTable([
    [...head, ...ACTIVITIES],
    ...[...rounds].map(([{ workload, connections, batch }, measured]) => {
      const sum = (value: (round: Round) => number) =>
        measured.reduce((total, round) => total + value(round), 0);
      const p50 = (times: (round: Round) => readonly number[]) =>
        quantile(Float64Array.from(measured.flatMap(times)).sort(), 0.5).toFixed(1);
      const average = (activity: Activity) =>
        (sum(({ sessions }) => sessions[activity]) / measured.length).toFixed(2);
      const generations = sum((round) => round.generations);
      return [
        workload,
        String(connections),
        String(batch),
        Math.round(generations / sum(({ seconds }) => seconds)).toLocaleString('en'),
        p50(({ holdMs }) => holdMs),
        p50(({ settleMs }) => settleMs),
        (sum(({ databaseMicroseconds }) => databaseMicroseconds) / generations).toFixed(0),
        (sum(({ walBytes }) => walBytes) / generations).toFixed(0),
        ...ACTIVITIES.map(average),
      ];
    }),
  ]);
}
