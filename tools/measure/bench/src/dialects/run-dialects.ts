import { alignedTable } from '@gateway/test-support';
import { checkCharges, type ChargesCheck } from '../check-charges';
import { startGateway } from '../gateway';
import { newTally } from '../load';
import { machineFacts, type Cores, type MachineFacts } from '../machine';
import { compile, measureScenario, scenarioName, type Row, type Scenario } from '../measure';
import type { Options } from '../options';
import type { Processes } from '../processes';
import { targetOf } from '../targets';
import { benchDialects, modelOf, type BenchDialect } from './canned-dialects';

const SCENARIO: Scenario = { kind: 'stream', connections: 32 };

/** The most CPU time per stream, as a multiple of that of OpenAI's dialect. */
const MAX_CPU_RATIOS: Partial<Record<BenchDialect, number>> = { anthropic: 1.3, converse: 1.6 };

export interface DialectRow {
  readonly dialect: BenchDialect;
  readonly streamsPerSecond: number;
  readonly p50Ms: number;
  /** Of the gateway's process, in µs; null if unknown. */
  readonly cpuMicrosecondsPerStream: number | null;
  /** As a multiple of OpenAI's; null if unknown. */
  readonly cpuRatio: number | null;
}

export interface DialectResults {
  readonly machine: MachineFacts;
  readonly rows: readonly DialectRow[];
  readonly charges: ChargesCheck;
}

/** Streams through one gateway whose upstream responds in the protocol of each dialect; the dialects take turns. */
export async function runDialects(
  options: Options,
  processes: Processes,
  cores: Cores | undefined,
  say: (text: string) => void,
): Promise<DialectResults> {
  say('Starting the upstream and the gateway');
  const upstream = await processes.startRole('others', 'upstream');
  const gateway = await startGateway(processes, cores, upstream.port, { dialects: true });
  // All are charged to one organization.
  const tally = newTally();
  const targets = benchDialects.map((dialect) => ({
    ...targetOf(dialect, gateway),
    tally,
    model: modelOf(dialect),
  }));
  say('Warming up');
  await compile(targets, options, ['stream']);
  say(`Measuring: ${scenarioName(SCENARIO)}`);
  const rows = await measureScenario(SCENARIO, targets, options);
  const charges = await checkCharges(gateway, tally);
  return { machine: machineFacts(cores), rows: dialectRows(rows), charges };
}

export function dialectRows(rows: readonly Row[]): DialectRow[] {
  const cpuOf = (dialect: BenchDialect) =>
    rows.find(({ target }) => target === dialect)?.cpuMicrosecondsPerRequest ?? null;
  const baseline = cpuOf('openai');
  return benchDialects.flatMap((dialect) => {
    const row = rows.find(({ target }) => target === dialect);
    if (row === undefined) return [];
    const cpu = cpuOf(dialect);
    return {
      dialect,
      streamsPerSecond: row.requestsPerSecond,
      p50Ms: row.p50Ms,
      cpuMicrosecondsPerStream: cpu,
      cpuRatio: cpu === null || baseline === null ? null : cpu / baseline,
    };
  });
}

export function renderDialects({ machine, rows, charges }: DialectResults): string {
  const table = alignedTable(
    [
      ['', 'streams/s', 'p50 ms', 'CPU µs/stream', '× openai'],
      ...rows.map(({ dialect, streamsPerSecond, p50Ms, cpuMicrosecondsPerStream: cpu, cpuRatio }) => [
        dialect,
        Math.round(streamsPerSecond).toLocaleString('en'),
        p50Ms.toFixed(2),
        cpu === null ? '' : Math.round(cpu).toLocaleString('en'),
        cpuRatio === null ? '' : cpuRatio.toFixed(2),
      ]),
    ],
    1,
  );
  return [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`,
    `Pinned: ${machine.pinned}`,
    '',
    table,
    '',
    `Charges: ${charges.text}`,
    '',
    ...goals(rows),
    '',
  ].join('\n');
}

/** One line per goal that the run has the figures for. */
function goals(rows: readonly DialectRow[]): string[] {
  return rows.flatMap(({ dialect, cpuRatio }) => {
    const max = MAX_CPU_RATIOS[dialect];
    if (max === undefined || cpuRatio === null) return [];
    const mark = cpuRatio <= max ? '✓' : '✗';
    return [`${mark} ${dialect}: at most ${max} × CPU time of the dialect openai: ${cpuRatio.toFixed(2)}`];
  });
}
