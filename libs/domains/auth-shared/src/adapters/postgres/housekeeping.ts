import type { Logger } from '@gateway/runtime';
import type { Pool } from 'pg';

const EVERY_MS = 10 * 60_000;

export interface Housekeeping {
  start(): void;
  stop(): Promise<void>;
}

/** Runs the deletions of expired rows at the start and every ten minutes. Several replicas may do so at once. */
export function createHousekeeping({
  pool,
  log,
  statements,
}: {
  readonly pool: Pool;
  readonly log: Logger;
  readonly statements: readonly string[];
}): Housekeeping {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    for (const statement of statements) await pool.query(statement);
  }

  function sweepOrLog(): void {
    running = sweep().catch((error: unknown) => log.warn({ err: error }, 'cannot delete expired rows'));
  }

  return {
    start() {
      sweepOrLog();
      timer = setInterval(sweepOrLog, EVERY_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
