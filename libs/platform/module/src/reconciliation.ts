import { createChangeTracker, type Clock } from '@gateway/base';
import { createPeriodicTask, type Logger, type PeriodicTask } from '@gateway/runtime';

/** Another process may have run since. */
const MAX_AGE_RUNS = 3;

export interface ReconciliationOptions<Difference> {
  /** For the log, such as "usage". */
  readonly what: string;
  /** Compares some of the data. @returns all known differences; undefined while another process is comparing. */
  readonly compare: () => Promise<readonly Difference[] | undefined>;
  readonly nameOf: (difference: Difference) => string;
  /** How a new difference is logged. */
  readonly describe: (difference: Difference) => readonly [fields: object, message: string];
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly intervalMs: number;
}

export interface Reconciliation extends PeriodicTask {
  /** One run. Does nothing while another process is running it. */
  run(): Promise<void>;
  /** The number of differences that this process found last; 0 when another process has run since. */
  differences(): number;
}

/** Compares data periodically, and logs each difference when it appears and when it ends. */
export function createReconciliation<Difference>(options: ReconciliationOptions<Difference>): Reconciliation {
  const { what, compare, nameOf, describe, clock, log, intervalMs } = options;
  const changesTo = createChangeTracker(nameOf);
  let latest = { differences: 0, at: clock.now() };

  async function run(): Promise<void> {
    try {
      const differences = await compare();
      if (differences === undefined) return;
      latest = { differences: differences.length, at: clock.now() };
      const { appeared, gone } = changesTo(differences);
      for (const difference of appeared) log?.error(...describe(difference));
      for (const difference of gone)
        log?.info({ difference }, `${what} reconciliation: a difference has ended`);
    } catch (error) {
      log?.error({ err: error }, `${what} reconciliation failed; retrying in the next run`);
    }
  }

  return {
    ...createPeriodicTask(run, intervalMs),
    run,
    differences: () => (clock.now() - latest.at < MAX_AGE_RUNS * intervalMs ? latest.differences : 0),
  };
}
