import { withTimeout } from '@gateway/base';
import { createPool, type PoolOptions } from './pool';

/** Checks whether a database is available. */
export interface DatabaseProbe {
  isAvailable(): Promise<boolean>;
  end(): Promise<void>;
}

const TIMEOUT_MS = 2_000;

/**
 * Uses a connection of its own, so that a busy pool does not look like an
 * unavailable database. Concurrent calls share one check.
 */
export function createDatabaseProbe(
  options: Pick<PoolOptions, 'url' | 'schema' | 'log' | 'throughPooler'>,
): DatabaseProbe {
  const pool = createPool({
    ...options,
    applicationName: 'gateway probe',
    maxConnections: 1,
    acquireTimeoutMs: TIMEOUT_MS,
    statementTimeoutMs: TIMEOUT_MS,
  });
  let checking: Promise<boolean> | undefined;

  async function check(): Promise<boolean> {
    try {
      // The timeouts of the pool do not apply if the server is frozen.
      await withTimeout(pool.query('select 1'), TIMEOUT_MS, 'the probe of the database');
      return true;
    } catch {
      return false;
    } finally {
      checking = undefined;
    }
  }

  return {
    isAvailable: () => (checking ??= check()),
    end: () => pool.end(),
  };
}
