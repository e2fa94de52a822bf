import { alignedTable } from '@gateway/test-support';
import type { MachineFacts } from './machine';
import type { Row, SlowStreamsRow } from './measure';
import type { PacedChunksRow } from './measure-paced';
import type { ChargesCheck } from './check-charges';
import type { TargetName } from './options';

export interface Results {
  readonly machine: MachineFacts;
  readonly startedAt: string;
  readonly rows: readonly Row[];
  readonly slowStreams: readonly SlowStreamsRow[];
  readonly paced: readonly PacedChunksRow[];
  readonly charges: ChargesCheck | null;
  readonly performanceTargets: readonly PerformanceTarget[];
}

/** A performance target of the project and the result of this run. */
export interface PerformanceTarget {
  readonly target: string;
  readonly measured: string;
  readonly met: boolean;
}

const TITLES: Readonly<Record<string, string>> = {
  upstream: 'upstream without a proxy',
  node: 'bare node:http proxy',
  express: 'bare express proxy',
  lean: 'lean express proxy',
  relay: 'byte relay',
  gateway: 'gateway',
  other: 'gateway of the other build',
};

const MIN_SHARE_OF_EXPRESS = 0.4;
const MAX_ADDED_P50_MS = 2;
const MAX_LEAN_CPU_RATIO = 1.4;
/** For 1,000 slow streams and for 5,000. */
const MAX_SLOW_STREAMS_MIB = { few: 400, many: 600 };
const FEW_STREAMS = 1_000;
const MAX_CHUNK_CPU_RATIO = 2;

/** The performanceTargets that this run has the figures for. */
export function evaluateTargets(
  rows: readonly Row[],
  slowStreams: readonly SlowStreamsRow[],
  paced: readonly PacedChunksRow[] = [],
): PerformanceTarget[] {
  const find = (scenario: string, target: TargetName) =>
    rows.find((row) => row.scenario === scenario && row.target === target);
  const performanceTargets: PerformanceTarget[] = [];
  const concurrent = find('non-streaming, c=32', 'gateway');
  const concurrentExpress = find('non-streaming, c=32', 'express');
  if (concurrent !== undefined && concurrentExpress !== undefined) {
    const share = concurrent.requestsPerSecond / concurrentExpress.requestsPerSecond;
    performanceTargets.push({
      target: `c=32, non-streaming: at least ${MIN_SHARE_OF_EXPRESS} × req/s of the bare express proxy`,
      measured: share.toFixed(2),
      met: share >= MIN_SHARE_OF_EXPRESS,
    });
  }
  const sequential = find('non-streaming, c=1', 'gateway');
  const sequentialExpress = find('non-streaming, c=1', 'express');
  if (sequential !== undefined && sequentialExpress !== undefined) {
    const added = sequential.p50Ms - sequentialExpress.p50Ms;
    performanceTargets.push({
      target: `c=1, non-streaming: p50 at most ${MAX_ADDED_P50_MS} ms above the bare express proxy`,
      measured: `${added.toFixed(2)} ms`,
      met: added <= MAX_ADDED_P50_MS,
    });
  }
  const [cpu, leanCpu] = [concurrent, find('non-streaming, c=32', 'lean')].map(
    (row) => row?.cpuMicrosecondsPerRequest,
  );
  if (cpu && leanCpu) {
    performanceTargets.push({
      target: `c=32, non-streaming: at most ${MAX_LEAN_CPU_RATIO} × CPU time of the lean proxy`,
      measured: (cpu / leanCpu).toFixed(2),
      met: cpu <= MAX_LEAN_CPU_RATIO * leanCpu,
    });
  }
  const slow = slowStreams.find((row) => row.target === 'gateway');
  if (slow !== undefined && slow.peakResidentMiB !== null) {
    const maxMiB = slow.streams > FEW_STREAMS ? MAX_SLOW_STREAMS_MIB.many : MAX_SLOW_STREAMS_MIB.few;
    performanceTargets.push({
      target: `${slow.streams.toLocaleString('en')} concurrent slow streams: below ${maxMiB} MiB`,
      measured: `${slow.peakResidentMiB.toFixed(0)} MiB`,
      met: slow.peakResidentMiB < maxMiB,
    });
  }
  const chunkOf = (target: TargetName) => paced.find((row) => row.target === target)?.cpuMicrosecondsPerChunk;
  const [chunk, chunkOfRelay] = [chunkOf('gateway'), chunkOf('relay')];
  if (chunk && chunkOfRelay) {
    performanceTargets.push({
      target: `paced chunks: at most ${MAX_CHUNK_CPU_RATIO} × CPU time of a byte relay`,
      measured: (chunk / chunkOfRelay).toFixed(2),
      met: chunk <= MAX_CHUNK_CPU_RATIO * chunkOfRelay,
    });
  }
  return performanceTargets;
}

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
  if (results.charges !== null) parts.push('', `Charges: ${results.charges.text}`);
  if (results.performanceTargets.length > 0) {
    parts.push(
      '',
      ...results.performanceTargets.map(
        ({ target, measured, met }) => `${met ? '✓' : '✗'} ${target}: ${measured}`,
      ),
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
  const cpuRatio = (row: Row) => {
    const [own, lean] = [row, baseline(row, 'lean')].map((each) => each?.cpuMicrosecondsPerRequest);
    return own && lean ? (own / lean).toFixed(2) : '';
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
      'CPU × lean',
    ],
  ];
  let previous = '';
  for (const row of rows) {
    if (previous !== '' && previous !== row.scenario) lines.push([]);
    lines.push([
      row.scenario === previous ? '' : row.scenario,
      TITLES[row.target] ?? row.target,
      rounded(row.requestsPerSecond),
      row.chunksPerSecond === 0 ? '' : rounded(row.chunksPerSecond),
      row.p50Ms.toFixed(2),
      row.p99Ms.toFixed(2),
      row.firstByteP50Ms === null ? '' : row.firstByteP50Ms.toFixed(2),
      optional(row.cpuMicrosecondsPerRequest),
      optional(row.databaseCpuMicrosecondsPerRequest),
      optional(row.residentMiB),
      ratio(row, 'node'),
      ratio(row, 'express'),
      cpuRatio(row),
    ]);
    previous = row.scenario;
  }
  return renderTable(lines);
}

function renderSlow(rows: readonly SlowStreamsRow[]): string {
  const lines = [['', '', 'seconds', 'RSS before MiB', 'RSS peak MiB', 'KiB/stream']];
  for (const [index, row] of rows.entries()) {
    lines.push([
      index === 0 ? `${row.streams.toLocaleString('en')} slow streams` : '',
      TITLES[row.target] ?? row.target,
      row.seconds.toFixed(1),
      optional(row.initialResidentMiB),
      optional(row.peakResidentMiB),
      optional(kibibytesPerStream(row)),
    ]);
  }
  return renderTable(lines);
}

function renderPaced(rows: readonly PacedChunksRow[]): string {
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

/** Growth of resident memory per stream. */
function kibibytesPerStream({ streams, initialResidentMiB, peakResidentMiB }: SlowStreamsRow): number | null {
  if (initialResidentMiB === null || peakResidentMiB === null) return null;
  return ((peakResidentMiB - initialResidentMiB) * 1024) / streams;
}

function rounded(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function optional(value: number | null): string {
  return value === null ? '' : rounded(value);
}

/** Names in the first two columns, figures in the others. */
export function renderTable(lines: readonly (readonly string[])[]): string {
  return alignedTable(lines, 2);
}
