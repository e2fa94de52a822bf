import { requestBody, slowPrompt } from './canned';
import { runOnce } from './load';
import { nodeMicroseconds } from './measure';
import type { Options } from './options';
import type { Target } from './targets';

/** Concurrent streams. */
const STREAMS = 200;
/** Chunks of a short stream. */
const SHORT_STREAM_CHUNKS = 1;

export interface PacedChunksRow {
  readonly target: string;
  readonly streams: number;
  readonly chunks: number;
  /** CPU time of the Node.js processes per chunk of an open stream, in µs; null if unknown. */
  readonly cpuMicrosecondsPerChunk: number | null;
  /** Total CPU time of a stream with a single chunk, in µs. */
  readonly cpuMicrosecondsPerStream: number | null;
}

interface CpuTime {
  short: number;
  long: number;
}

/**
 * The CPU time of a chunk in an open stream: that of long streams minus that of short streams, so that
 * starting and settling them is excluded. The targets take turns.
 */
export async function measurePaced(targets: readonly Target[], options: Options): Promise<PacedChunksRow[]> {
  const spent = new Map<Target, CpuTime | undefined>(
    targets.map((target) => [target, { short: 0, long: 0 }]),
  );
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const target of targets) {
      const short = await cpuOf(target, SHORT_STREAM_CHUNKS);
      const long = await cpuOf(target, SHORT_STREAM_CHUNKS + options.slowChunks);
      const sum = spent.get(target);
      // The first round is a warm-up.
      if (round === 0 || !sum) continue;
      if (short === undefined || long === undefined) spent.set(target, undefined);
      else spent.set(target, { short: sum.short + short, long: sum.long + long });
    }
  }
  const streams = STREAMS * options.rounds;
  return targets.map((target) => {
    const sum = spent.get(target);
    return {
      target: target.name,
      streams: STREAMS,
      chunks: options.slowChunks,
      cpuMicrosecondsPerChunk: sum ? (sum.long - sum.short) / (streams * options.slowChunks) : null,
      cpuMicrosecondsPerStream: sum ? sum.short / streams : null,
    };
  });
}

async function cpuOf(target: Target, chunks: number): Promise<number | undefined> {
  const before = nodeMicroseconds(target);
  const body = requestBody('stream', slowPrompt({ chunks, everyTicks: 1 }));
  await runOnce({ destination: target.destination, body, chunks, tally: target.tally }, STREAMS);
  const after = nodeMicroseconds(target);
  return before === undefined || after === undefined ? undefined : after - before;
}
