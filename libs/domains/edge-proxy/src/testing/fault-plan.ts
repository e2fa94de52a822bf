import type { CancelSignal } from '@gateway/base';

/**
 * Injects faults at named steps. Stubs call `reach` at each of their steps; a run
 * without faults records which steps exist.
 */
export interface FaultPlan {
  /** Waits for one turn of the event loop, so that every step can be interrupted. */
  reach(step: string): Promise<void>;
  /** Runs `happen` the first time that this step is reached. */
  at(step: string, happen: () => void | Promise<void>): void;
  readonly reached: readonly string[];
}

export function createFaultPlan(): FaultPlan {
  const reached: string[] = [];
  const faults = new Map<string, () => void | Promise<void>>();
  return {
    reached,
    at: (step, happen) => void faults.set(step, happen),
    reach: async (step) => {
      await new Promise((resolve) => setImmediate(resolve));
      reached.push(step);
      const fault = faults.get(step);
      faults.delete(step);
      await fault?.();
    },
  };
}

/** Rejects as soon as the signal aborts, as the threads do. */
export function unlessAborted<Value>(step: Promise<Value>, signal: CancelSignal | undefined): Promise<Value> {
  const aborted = new Promise<never>((_, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason as Error)),
  );
  return Promise.race([step, aborted]);
}
