import { setTimeout as sleep } from 'node:timers/promises';
import { requestBody, slowPrompt, STREAM_CHUNKS, TICK_MS } from '../canned';
import { runLoad, runOnce } from '../load';
import { quantile } from '../measure';
import { type Options } from '../options';
import { type Target } from '../targets';

/** Open meanwhile, with a chunk at every tick each. */
export const OPEN_STREAMS = 200;
const OPENING_MS = 1_000;

export interface FirstTokenRow {
  readonly target: string;
  /** Until the first event of a stream, in ms. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** More than from the upstream itself; null where that was not measured. */
  readonly addedP50Ms: number | null;
}

/** How long one more client waits for the first event of a stream while others are open; the targets take turns. */
export async function measureFirstToken(
  targets: readonly Target[],
  { rounds, warmUpMs, windowMs }: Options,
): Promise<FirstTokenRow[]> {
  const times = new Map<Target, number[]>(targets.map((target) => [target, []]));
  const chunks = Math.ceil((OPENING_MS + warmUpMs + windowMs) / TICK_MS);
  for (let round = 0; round < rounds; round += 1) {
    for (const target of targets) {
      const { destination, tally } = target;
      const body = requestBody('stream', slowPrompt({ chunks, everyTicks: 1 }));
      const open = runOnce({ destination, body, chunks, tally }, OPEN_STREAMS);
      const asked = sleep(OPENING_MS).then(() =>
        runLoad({
          ...{ destination, tally, warmUpMs, windowMs, kind: 'stream', connections: 1 },
          body: requestBody('stream'),
          chunks: STREAM_CHUNKS,
        }),
      );
      const [{ firstBytesMs }] = await Promise.all([asked, open]);
      times.get(target)?.push(...firstBytesMs);
    }
  }
  return firstTokenRows(new Map([...times].map(([{ name }, each]) => [name, each])));
}

export function firstTokenRows(times: ReadonlyMap<string, readonly number[]>): FirstTokenRow[] {
  const median = (each: readonly number[]) => quantile(Float64Array.from(each).sort(), 0.5);
  const upstream = times.get('upstream');
  return [...times].map(([target, each]) => ({
    target,
    p50Ms: median(each),
    p99Ms: quantile(Float64Array.from(each).sort(), 0.99),
    addedP50Ms: upstream === undefined ? null : median(each) - median(upstream),
  }));
}
