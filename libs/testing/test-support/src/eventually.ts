const POLL_MS = 20;
const TIMEOUT_MS = 15_000;

export interface EventuallyOptions {
  /** Defaults to 15 s. */
  readonly timeoutMs?: number;
  /** Interval between calls; defaults to 20 ms. */
  readonly pollMs?: number;
}

/** Calls `query` until it returns a value; fails with `what` after the timeout. */
export async function eventually<Value>(
  what: string,
  query: () => Promise<Value | undefined>,
  { timeoutMs = TIMEOUT_MS, pollMs = POLL_MS }: EventuallyOptions = {},
): Promise<Value> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await query();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`timed out waiting for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
