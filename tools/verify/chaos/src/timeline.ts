import { isServed, type Attempt } from '@gateway/load';

/** Effect of a fault on requests. */
export interface Impact {
  readonly requests: number;
  readonly completed: number;
  /** By error code, or by outcome for requests without a response. */
  readonly errors: Readonly<Record<string, number>>;
  /** Longest time between two responses. */
  readonly longestOutageMs: number;
  /** Time from the end of the fault until most requests succeed. */
  readonly recoveryMs: number;
  /** Lowest throughput from three seconds after the start, as a share of normal. */
  readonly lowestThroughput: number;
}

export interface Window {
  readonly startedMs: number;
  readonly recoveredMs: number;
  /** When the next fault may start. */
  readonly endedMs: number;
}

/** Time for the other replica to take over. */
export const GRACE_MS = 3_000;
/** Sliding window over which throughput is measured. */
export const SPAN_MS = 2_000;
const STEP_MS = 100;
const RECOVERED_SHARE = 0.8;

/** @param normalPerSecond responses per second without faults */
export function impactOf(attempts: readonly Attempt[], window: Window, normalPerSecond: number): Impact {
  const { startedMs, recoveredMs, endedMs } = window;
  const within = attempts.filter((each) => each.endedMs >= startedMs && each.endedMs < endedMs);
  const served = attempts
    .filter((each) => isServed(each) && each.endedMs >= startedMs - SPAN_MS && each.endedMs < endedMs)
    .map(({ endedMs: at }) => at)
    .sort((a, b) => a - b);
  const errors: Record<string, number> = {};
  for (const attempt of within.filter((each) => !isServed(each))) {
    const name = attempt.outcome === 'failed' ? (attempt.code ?? 'unknown') : attempt.outcome;
    errors[name] = (errors[name] ?? 0) + 1;
  }
  const shareAt = (end: number): number =>
    served.filter((at) => at > end - SPAN_MS && at <= end).length / ((normalPerSecond * SPAN_MS) / 1_000);
  let lowestThroughput = 1;
  const measuredFromMs = startedMs + GRACE_MS + SPAN_MS;
  const measuredToMs = Math.min(Math.max(recoveredMs, measuredFromMs), endedMs);
  for (let at = measuredFromMs; at <= measuredToMs; at += STEP_MS) {
    lowestThroughput = Math.min(lowestThroughput, shareAt(at));
  }
  let normalAtMs = recoveredMs;
  while (normalAtMs < endedMs && shareAt(normalAtMs) < RECOVERED_SHARE) normalAtMs += STEP_MS;
  return {
    requests: within.length,
    completed: within.filter(isServed).length,
    errors,
    longestOutageMs: longestOutage([startedMs, ...served.filter((at) => at >= startedMs), endedMs]),
    recoveryMs: normalAtMs - recoveredMs,
    lowestThroughput,
  };
}

function longestOutage(moments: readonly number[]): number {
  return moments.reduce((longest, at, index) => Math.max(longest, at - (moments[index - 1] ?? at)), 0);
}
