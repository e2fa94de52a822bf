import { alignedTable } from '@gateway/test-support';
import type { MachineFacts } from './machine';
import type { Row, SlowRow } from './measure';
import type { PacedRow } from './measure-paced';
import type { MoneyCheck } from './money-check';
import type { TargetName } from './options';

export interface Results {
  readonly machine: MachineFacts;
  readonly startedAt: string;
  readonly rows: readonly Row[];
  readonly slowStreams: readonly SlowRow[];
  readonly paced: readonly PacedRow[];
  readonly money: MoneyCheck | null;
  readonly aims: readonly Aim[];
}

/** What the project sets out to reach, and what this run says. */
export interface Aim {
  readonly aim: string;
  readonly measured: string;
  readonly reached: boolean;
}

const TITLES: Readonly<Record<string, string>> = {
  upstream: 'upstream, no proxy',
  node: 'bare node:http proxy',
  express: 'bare express proxy',
  relay: 'bare relay of bytes',
  gateway: 'gateway',
  other: 'gateway of the other build',
};

const MIN_SHARE_OF_EXPRESS = 0.4;
const MAX_ADDED_P50_MS = 2;
/** Of a thousand slow streams, and of five thousand. */
const MAX_SLOW_STREAMS_MIB = { few: 400, many: 600 };
const FEW_STREAMS = 1_000;
const MAX_CHUNK_OF_RELAY = 2;

/** The aims that this run has the figures for. */
export function judge(
  rows: readonly Row[],
  slowStreams: readonly SlowRow[],
  paced: readonly PacedRow[] = [],
): Aim[] {
  const find = (scenario: string, target: TargetName) =>
    rows.find((row) => row.scenario === scenario && row.target === target);
  const aims: Aim[] = [];
  const busy = find('whole answer, c=32', 'gateway');
  const busyExpress = find('whole answer, c=32', 'express');
  if (busy !== undefined && busyExpress !== undefined) {
    const share = busy.requestsPerSecond / busyExpress.requestsPerSecond;
    aims.push({
      aim: `c=32, whole answers: at least ${MIN_SHARE_OF_EXPRESS} of the bare express proxy`,
      measured: share.toFixed(2),
      reached: share >= MIN_SHARE_OF_EXPRESS,
    });
  }
  const calm = find('whole answer, c=1', 'gateway');
  const calmExpress = find('whole answer, c=1', 'express');
  if (calm !== undefined && calmExpress !== undefined) {
    const added = calm.p50Ms - calmExpress.p50Ms;
    aims.push({
      aim: `c=1, whole answers: p50 at most ${MAX_ADDED_P50_MS} ms above the bare express proxy`,
      measured: `${added.toFixed(2)} ms`,
      reached: added <= MAX_ADDED_P50_MS,
    });
  }
  const slow = slowStreams.find((row) => row.target === 'gateway');
  if (slow !== undefined && slow.residentPeakMiB !== null) {
    const maxMiB = slow.streams > FEW_STREAMS ? MAX_SLOW_STREAMS_MIB.many : MAX_SLOW_STREAMS_MIB.few;
    aims.push({
      aim: `${slow.streams.toLocaleString('en')} slow streams at once: below ${maxMiB} MiB`,
      measured: `${slow.residentPeakMiB.toFixed(0)} MiB`,
      reached: slow.residentPeakMiB < maxMiB,
    });
  }
  const chunkOf = (target: TargetName) => paced.find((row) => row.target === target)?.cpuMicrosecondsPerChunk;
  const [chunk, chunkOfRelay] = [chunkOf('gateway'), chunkOf('relay')];
  if (chunk && chunkOfRelay) {
    aims.push({
      aim: `paced chunks: at most ${MAX_CHUNK_OF_RELAY} times the CPU of a bare relay`,
      measured: (chunk / chunkOfRelay).toFixed(2),
      reached: chunk <= MAX_CHUNK_OF_RELAY * chunkOfRelay,
    });
  }
  return aims;
}

/** The whole report as text. */
export function renderReport(results: Results): string {
  const { machine } = results;
  const parts = [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}, ${machine.platform}`,
    `Pinned: ${machine.pinned}`,
    '',
    ...(results.rows.length > 0 ? [renderRows(results.rows)] : []),
  ];
  if (results.slowStreams.length > 0)
    parts.push(...(results.rows.length > 0 ? [''] : []), renderSlow(results.slowStreams));
  if (results.paced.length > 0) parts.push('', renderPaced(results.paced));
  if (results.money !== null) parts.push('', `Money: ${results.money.text}`);
  if (results.aims.length > 0) {
    parts.push(
      '',
      ...results.aims.map(({ aim, measured, reached }) => `${reached ? '✓' : '✗'} ${aim}: ${measured}`),
    );
  }
  return `${parts.join('\n')}\n`;
}

function renderRows(rows: readonly Row[]): string {
  const baseline = (row: Row, target: TargetName) =>
    rows.find((other) => other.scenario === row.scenario && other.target === target);
  const ratio = (row: Row, target: TargetName) => {
    const other = baseline(row, target);
    return other === undefined ? '' : (row.requestsPerSecond / other.requestsPerSecond).toFixed(2);
  };
  const lines = [
    [
      '',
      '',
      'req/s',
      'chunks/s',
      'p50 ms',
      'p99 ms',
      '1st ms',
      'CPU µs/req',
      'DB µs/req',
      'RSS MiB',
      '× node',
      '× express',
    ],
  ];
  let previous = '';
  for (const row of rows) {
    if (previous !== '' && previous !== row.scenario) lines.push([]);
    lines.push([
      row.scenario === previous ? '' : row.scenario,
      TITLES[row.target] ?? row.target,
      whole(row.requestsPerSecond),
      row.chunksPerSecond === 0 ? '' : whole(row.chunksPerSecond),
      row.p50Ms.toFixed(2),
      row.p99Ms.toFixed(2),
      row.firstByteP50Ms === null ? '' : row.firstByteP50Ms.toFixed(2),
      optional(row.cpuMicrosecondsPerRequest),
      optional(row.databaseCpuMicrosecondsPerRequest),
      optional(row.residentMiB),
      ratio(row, 'node'),
      ratio(row, 'express'),
    ]);
    previous = row.scenario;
  }
  return renderTable(lines);
}

function renderSlow(rows: readonly SlowRow[]): string {
  const lines = [['', '', 'seconds', 'RSS before MiB', 'RSS peak MiB', 'KiB/stream']];
  for (const [index, row] of rows.entries()) {
    lines.push([
      index === 0 ? `${row.streams.toLocaleString('en')} slow streams` : '',
      TITLES[row.target] ?? row.target,
      row.seconds.toFixed(1),
      optional(row.residentBeforeMiB),
      optional(row.residentPeakMiB),
      optional(kibibytesPerStream(row)),
    ]);
  }
  return renderTable(lines);
}

function renderPaced(rows: readonly PacedRow[]): string {
  const lines = [['', '', 'CPU µs/chunk', 'CPU µs/stream']];
  for (const [index, row] of rows.entries()) {
    lines.push([
      index === 0 ? `${row.streams} streams of ${row.chunks} paced chunks` : '',
      TITLES[row.target] ?? row.target,
      row.cpuMicrosecondsPerChunk === null ? '' : row.cpuMicrosecondsPerChunk.toFixed(1),
      optional(row.cpuMicrosecondsPerStream),
    ]);
  }
  return renderTable(lines);
}

/** By how much the memory grew, stream by stream. */
function kibibytesPerStream({ streams, residentBeforeMiB, residentPeakMiB }: SlowRow): number | null {
  if (residentBeforeMiB === null || residentPeakMiB === null) return null;
  return ((residentPeakMiB - residentBeforeMiB) * 1024) / streams;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function optional(value: number | null): string {
  return value === null ? '' : whole(value);
}

/** Names in the first two columns, figures in the others. */
export function renderTable(lines: readonly (readonly string[])[]): string {
  return alignedTable(lines, 2);
}
