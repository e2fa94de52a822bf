import type { Clock } from '@gateway/base';
import { targetKey, type Target } from '../catalogue/model-catalogue';
import type { AttemptOutcome } from '../generation/attempt-outcome';

/** The window of the health figures, in milliseconds. */
export const HEALTH_WINDOW_MS = 300_000;
const SLICES = 10;
const SLICE_MS = HEALTH_WINDOW_MS / SLICES;
/** Upper bounds of the histogram of times to the first event. */
const BOUNDS_MS = [
  10, 25, 50, 100, 250, 500, 750, 1_000, 1_500, 2_500, 5_000, 10_000, 20_000, 40_000, 90_000,
];

/** Outcomes that are no failure of the target. */
const NO_FAILURES = new Set<AttemptOutcome>(['ok', 'cancelled', 'rejected', 'context_too_long']);
/** Outcomes without a call. */
const NO_CALLS = new Set<AttemptOutcome>(['circuit_open', 'bulkhead_full', 'drained']);

interface Slice {
  readonly startedAt: number;
  calls: number;
  readonly failures: Map<AttemptOutcome, number>;
  firstEvents: number;
  firstEventMs: number;
  readonly histogram: number[];
}

export interface HealthFigures {
  readonly calls: number;
  readonly failures: ReadonlyMap<AttemptOutcome, number>;
  readonly firstEvent:
    { readonly meanMs: number; readonly p50Ms: number; readonly p95Ms: number } | undefined;
  readonly inFlight: number;
}

/** Results of recent calls per target, and the calls in flight. Bounded by the targets of the catalogue. */
export class TargetHealth {
  private readonly slices = new Map<string, Slice[]>();
  private readonly inFlight = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Counts a call as in flight. @returns a function that ends it, safe to call twice. */
  enter(target: Target): () => void {
    const key = targetKey(target);
    this.inFlight.set(key, (this.inFlight.get(key) ?? 0) + 1);
    let isInFlight = true;
    return () => {
      if (isInFlight) this.inFlight.set(key, (this.inFlight.get(key) ?? 1) - 1);
      isInFlight = false;
    };
  }

  ended(target: Target, outcome: AttemptOutcome): void {
    if (NO_CALLS.has(outcome)) return;
    const slice = this.slice(target);
    slice.calls += 1;
    if (!NO_FAILURES.has(outcome)) slice.failures.set(outcome, (slice.failures.get(outcome) ?? 0) + 1);
  }

  firstEvent(target: Target, ms: number): void {
    const slice = this.slice(target);
    slice.firstEvents += 1;
    slice.firstEventMs += ms;
    const bucket = BOUNDS_MS.findIndex((bound) => ms <= bound);
    const index = bucket === -1 ? BOUNDS_MS.length : bucket;
    slice.histogram[index] = (slice.histogram[index] ?? 0) + 1;
  }

  figuresOf(target: Target): HealthFigures {
    const slices = this.current(targetKey(target));
    const failures = new Map<AttemptOutcome, number>();
    for (const slice of slices) {
      for (const [outcome, count] of slice.failures)
        failures.set(outcome, (failures.get(outcome) ?? 0) + count);
    }
    return {
      calls: sum(slices, ({ calls }) => calls),
      failures,
      firstEvent: firstEventOf(slices),
      inFlight: this.inFlight.get(targetKey(target)) ?? 0,
    };
  }

  private slice(target: Target): Slice {
    const key = targetKey(target);
    const slices = this.current(key);
    const last = slices.at(-1);
    const now = this.clock.now();
    if (last && now < last.startedAt + SLICE_MS) return last;
    const slice: Slice = {
      startedAt: now,
      calls: 0,
      failures: new Map(),
      firstEvents: 0,
      firstEventMs: 0,
      histogram: [],
    };
    slices.push(slice);
    this.slices.set(key, slices);
    return slice;
  }

  /** Drops slices that are too old, or in the future after a clock step. */
  private current(key: string): Slice[] {
    const now = this.clock.now();
    const kept = (this.slices.get(key) ?? []).filter(
      ({ startedAt }) => startedAt + HEALTH_WINDOW_MS > now && startedAt <= now,
    );
    this.slices.set(key, kept);
    return kept;
  }
}

function firstEventOf(slices: readonly Slice[]): HealthFigures['firstEvent'] {
  const count = sum(slices, ({ firstEvents }) => firstEvents);
  if (count === 0) return undefined;
  const histogram = [...BOUNDS_MS, Infinity].map((_, index) =>
    sum(slices, (slice) => slice.histogram[index] ?? 0),
  );
  return {
    meanMs: sum(slices, ({ firstEventMs }) => firstEventMs) / count,
    p50Ms: quantile(histogram, 0.5 * count),
    p95Ms: quantile(histogram, 0.95 * count),
  };
}

/** Interpolates linearly within a bucket; above the last bound it returns that bound. */
function quantile(histogram: readonly number[], rank: number): number {
  let below = 0;
  let lower = 0;
  for (const [index, upper] of BOUNDS_MS.entries()) {
    const inside = histogram[index] ?? 0;
    if (inside > 0 && below + inside >= rank) return lower + ((upper - lower) * (rank - below)) / inside;
    below += inside;
    lower = upper;
  }
  return lower;
}

function sum(slices: readonly Slice[], of: (slice: Slice) => number): number {
  return slices.reduce((total, slice) => total + of(slice), 0);
}
