/** Limits the log lines of frequent events. */
export interface LogSampler {
  /** @returns the number of suppressed events of this kind since its last line; undefined to suppress this one. */
  sample(kind: string): number | undefined;
}

export interface LogSamplerOptions {
  /** The interval between lines of one kind. */
  readonly everyMs: number;
}

/** Kinds are few constants. Beyond this number, the oldest kind is evicted. */
const MAX_KINDS = 100;

/**
 * Logs the first event of a kind immediately, then at most one per interval with
 * the number of suppressed events.
 *
 * @param now a monotonic clock in milliseconds.
 */
export function createLogSampler(now: () => number, { everyMs }: LogSamplerOptions): LogSampler {
  const kinds = new Map<string, { loggedAtMs: number; suppressed: number }>();
  return {
    sample(kind) {
      const at = now();
      const known = kinds.get(kind);
      if (known && at - known.loggedAtMs < everyMs) {
        known.suppressed += 1;
        return undefined;
      }
      kinds.delete(kind);
      kinds.set(kind, { loggedAtMs: at, suppressed: 0 });
      const oldest = kinds.size > MAX_KINDS ? kinds.keys().next().value : undefined;
      if (oldest !== undefined) kinds.delete(oldest);
      return known?.suppressed ?? 0;
    },
  };
}
