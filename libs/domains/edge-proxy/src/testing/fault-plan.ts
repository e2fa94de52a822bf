/**
 * Makes a chosen moment go wrong. Stubs pass each of their moments through
 * `reach`; a first run without faults tells which moments there are.
 */
export interface FaultPlan {
  /** Waits for one turn of the event loop, so that every moment can be interrupted. */
  reach(moment: string): Promise<void>;
  /** What happens the first time that this moment is reached. */
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
