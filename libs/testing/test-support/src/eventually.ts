const POLL_MS = 20;
/** Polling costs more processor time than what it waits for, so a longer wait polls less often. */
const POLL_MAX_MS = 200;
/** Part of the time waited so far. */
const POLL_PART = 0.1;
const TIMEOUT_MS = 15_000;

export interface EventuallyOptions {
  /** Defaults to 15 s. */
  readonly timeoutMs?: number;
  /** Interval between calls; defaults to a tenth of the time waited, within 20 and 200 ms. */
  readonly pollMs?: number;
}

/** Calls `query` until it returns a value; fails with `what` after the timeout. */
export async function eventually<Value>(
  what: string,
  query: () => Promise<Value | undefined>,
  { timeoutMs = TIMEOUT_MS, pollMs }: EventuallyOptions = {},
): Promise<Value> {
  const start = Date.now();
  for (;;) {
    const value = await query();
    if (value !== undefined) return value;
    const waitedMs = Date.now() - start;
    if (waitedMs > timeoutMs) throw new Error(`timed out waiting for: ${what}`);
    const intervalMs = pollMs ?? Math.min(Math.max(POLL_MS, waitedMs * POLL_PART), POLL_MAX_MS);
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
