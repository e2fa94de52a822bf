import type { Clock } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Pool } from 'pg';

const INTERVAL_MS = 10 * 60_000;

export interface Maintenance {
  start(): void;
  stop(): Promise<void>;
}

/** Deletes expired rows at startup and every ten minutes. Replicas may run it concurrently. */
export function createMaintenance({
  pool,
  log,
  statements,
  clock,
}: {
  readonly pool: Pool;
  readonly log: Logger;
  readonly statements: readonly string[];
  /** Its time is $1 of each statement. Absent: they have no parameter. */
  readonly clock?: Clock;
}): Maintenance {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function runStatements(): Promise<void> {
    for (const statement of statements) await pool.query(statement, clock && [new Date(clock.now())]);
  }

  function runOrLog(): void {
    running = runStatements().catch((error: unknown) =>
      log.warn({ err: error }, 'cannot delete expired rows'),
    );
  }

  return {
    start() {
      runOrLog();
      timer = setInterval(runOrLog, INTERVAL_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
