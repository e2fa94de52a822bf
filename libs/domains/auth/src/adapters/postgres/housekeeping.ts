import type { Logger } from '@gateway/runtime';
import type { Pool } from 'pg';

/** What nobody needs any more. Far above any lease, so that no edge loses one that it uses. */
const STATEMENTS = [
  `delete from invalidations where created_at < clock_timestamp() - interval '1 hour'`,
  `delete from edge_leases where expires_at < clock_timestamp() - interval '1 hour'`,
  `delete from sessions where expires_at < clock_timestamp()`,
  `delete from oidc_flows where expires_at < clock_timestamp()`,
  `delete from password_resets where expires_at < clock_timestamp()`,
  `delete from sign_in_attempts where window_ends_at < clock_timestamp()`,
];

const EVERY_MS = 10 * 60_000;

export interface Housekeeping {
  start(): void;
  stop(): Promise<void>;
}

/** Deletes what has run out, at the start and every ten minutes. Several replicas may do so at once. */
export function createHousekeeping({ pool, log }: { pool: Pool; log: Logger }): Housekeeping {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    for (const statement of STATEMENTS) await pool.query(statement);
  }

  function sweepOrLog(): void {
    running = sweep().catch((error: unknown) => log.warn({ err: error }, 'cannot delete what has expired'));
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
