/**
 * Injects faults at named steps. Stubs call `reach` at each of their steps; a run
 * without faults records which steps exist.
 */
export interface FaultPlan {
  /** Waits for one turn of the event loop, so that every step can be interrupted. */
  reach(moment: string): Promise<void>;
  /** Runs `happen` the first time that this step is reached. */
  at(moment: string, happen: () => void | Promise<void>): void;
  readonly reached: readonly string[];
}

export function createFaultPlan(): FaultPlan {
  const reached: string[] = [];
  const faults = new Map<string, () => void | Promise<void>>();
  return {
    reached,
    at: (moment, happen) => void faults.set(moment, happen),
    reach: async (moment) => {
      await new Promise((resolve) => setImmediate(resolve));
      reached.push(moment);
      const fault = faults.get(moment);
      faults.delete(moment);
      await fault?.();
    },
  };
}
