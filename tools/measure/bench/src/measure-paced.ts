import { requestBody, slowPrompt } from './canned';
import { runOnce } from './load';
import { cpuMicroseconds } from './machine';
import type { Options } from './options';
import type { Target } from './targets';

/** Streams at once. */
const STREAMS = 200;
/** Of the short streams; those of the long ones are the option's. */
const FEW_CHUNKS = 1;

export interface PacedRow {
  readonly target: string;
  readonly streams: number;
  readonly chunks: number;
  /** CPU of the Node process for each chunk of a stream that is open, in µs; null where it is not known. */
  readonly cpuMicrosecondsPerChunk: number | null;
  /** The same for a stream with a single chunk, all in all. */
  readonly cpuMicrosecondsPerStream: number | null;
}

interface Spent {
  few: number;
  many: number;
}

/**
 * What a chunk costs that comes by itself, in a stream that is open: long streams less short ones,
 * so that opening and settling them is not in it. The targets take turns.
 */
export async function measurePaced(targets: readonly Target[], options: Options): Promise<PacedRow[]> {
  const spent = new Map<Target, Spent | undefined>(targets.map((target) => [target, { few: 0, many: 0 }]));
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const target of targets) {
      const few = await cpuOf(target, FEW_CHUNKS);
      const many = await cpuOf(target, FEW_CHUNKS + options.slowChunks);
      const sum = spent.get(target);
      // The first is for the code to be compiled.
      if (round === 0 || !sum) continue;
      if (few === undefined || many === undefined) spent.set(target, undefined);
      else spent.set(target, { few: sum.few + few, many: sum.many + many });
    }
  }
  const streams = STREAMS * options.rounds;
  return targets.map((target) => {
    const sum = spent.get(target);
    return {
      target: target.name,
      streams: STREAMS,
      chunks: options.slowChunks,
      cpuMicrosecondsPerChunk: sum ? (sum.many - sum.few) / (streams * options.slowChunks) : null,
      cpuMicrosecondsPerStream: sum ? sum.few / streams : null,
    };
  });
}

async function cpuOf(target: Target, chunks: number): Promise<number | undefined> {
  const before = cpuMicroseconds(target.pid);
  const body = requestBody('stream', slowPrompt({ chunks, everyTicks: 1 }));
  await runOnce({ destination: target.destination, body, chunks, tally: target.tally }, STREAMS);
  const after = cpuMicroseconds(target.pid);
  return before === undefined || after === undefined ? undefined : after - before;
}
