const POLL_MS = 20;
const PATIENCE_MS = 15_000;

export interface Patience {
  /** When it fails; 15 seconds when absent. */
  readonly patienceMs?: number;
  /** Between two questions; 20 ms when absent. */
  readonly pollMs?: number;
}

/** Asks again until there is an answer; fails with the name of what never came. */
export async function eventually<Value>(
  what: string,
  ask: () => Promise<Value | undefined>,
  { patienceMs = PATIENCE_MS, pollMs = POLL_MS }: Patience = {},
): Promise<Value> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
