import { isServed, type Attempt } from '@gateway/load';

/** What a fault did to the requests around it. */
export interface Impact {
  readonly requests: number;
  readonly answered: number;
  /** By code; "lost" and "late" are those without one. */
  readonly errors: Readonly<Record<string, number>>;
  /** Between two answers, in milliseconds. */
  readonly longestGapMs: number;
  /** From the moment when it was mended until most requests succeed again. */
  readonly recoveryMs: number;
  /** The worst share of the usual answers, three seconds after it began and later. */
  readonly worstShare: number;
}

export interface Window {
  readonly beganMs: number;
  readonly mendedMs: number;
  /** When the next fault may begin. */
  readonly endedMs: number;
}

/** What one of two replicas may take along before the other does all the work. */
export const GRACE_MS = 3_000;
/** Over which answers are counted. */
export const SPAN_MS = 2_000;
const STEP_MS = 100;
const RECOVERED_SHARE = 0.8;

/** @param usualPerSecond answers per second while nothing is broken. */
export function impactOf(attempts: readonly Attempt[], window: Window, usualPerSecond: number): Impact {
  const { beganMs, mendedMs, endedMs } = window;
  const within = attempts.filter((each) => each.endedMs >= beganMs && each.endedMs < endedMs);
  const good = attempts
    .filter((each) => isServed(each) && each.endedMs >= beganMs - SPAN_MS && each.endedMs < endedMs)
    .map(({ endedMs: at }) => at)
    .sort((a, b) => a - b);
  const errors: Record<string, number> = {};
  for (const attempt of within.filter((each) => !isServed(each))) {
    const name = attempt.outcome === 'refused' ? (attempt.code ?? 'unknown') : attempt.outcome;
    errors[name] = (errors[name] ?? 0) + 1;
  }
  const shareAt = (end: number): number =>
    good.filter((at) => at > end - SPAN_MS && at <= end).length / ((usualPerSecond * SPAN_MS) / 1_000);
  let worstShare = 1;
  const judgedFromMs = beganMs + GRACE_MS + SPAN_MS;
  const judgedToMs = Math.min(Math.max(mendedMs, judgedFromMs), endedMs);
  for (let at = judgedFromMs; at <= judgedToMs; at += STEP_MS) {
    worstShare = Math.min(worstShare, shareAt(at));
  }
  let recoveredMs = mendedMs;
  while (recoveredMs < endedMs && shareAt(recoveredMs) < RECOVERED_SHARE) recoveredMs += STEP_MS;
  return {
    requests: within.length,
    answered: within.filter(isServed).length,
    errors,
    longestGapMs: longestGap([beganMs, ...good.filter((at) => at >= beganMs), endedMs]),
    recoveryMs: recoveredMs - mendedMs,
    worstShare,
  };
}

function longestGap(moments: readonly number[]): number {
  return moments.reduce((longest, at, index) => Math.max(longest, at - (moments[index - 1] ?? at)), 0);
}
