/** Says which of many alike events is worth a line. */
export interface LogSampler {
  /** @returns how many of this kind went unsaid since the last line; undefined when this one goes unsaid, too. */
  sample(kind: string): number | undefined;
}

export interface LogSamplerOptions {
  /** A line per kind and this long. */
  readonly everyMs: number;
}

/** Kinds are few and of our own naming; should they not be, the oldest is forgotten. */
const MAX_KINDS = 100;

/**
 * The first event of a kind is told at once, and of a flood one in so many
 * milliseconds, with the number of those that were not.
 *
 * @param now ascending milliseconds.
 */
export function createLogSampler(now: () => number, { everyMs }: LogSamplerOptions): LogSampler {
  const kinds = new Map<string, { toldAtMs: number; untold: number }>();
  return {
    sample(kind) {
      const at = now();
      const known = kinds.get(kind);
      if (known && at - known.toldAtMs < everyMs) {
        known.untold += 1;
        return undefined;
      }
      kinds.delete(kind);
      kinds.set(kind, { toldAtMs: at, untold: 0 });
      const oldest = kinds.size > MAX_KINDS ? kinds.keys().next().value : undefined;
      if (oldest !== undefined) kinds.delete(oldest);
      return known?.untold ?? 0;
    },
  };
}
