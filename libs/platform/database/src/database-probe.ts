import { withTimeout } from '@gateway/base';
import { createPool, type PoolOptions } from './pool';

/** Whether a database answers right now. */
export interface DatabaseProbe {
  answers(): Promise<boolean>;
  end(): Promise<void>;
}

/** What has not answered by then would keep requests waiting, too. */
const TIMEOUT_MS = 2_000;

/**
 * Asks by a connection of its own, so that a busy pool does not look like a
 * database that is away. Whoever asks while an answer is awaited gets that one.
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
  let asking: Promise<boolean> | undefined;

  async function ask(): Promise<boolean> {
    try {
      // A frozen server keeps neither of the pool's two timeouts.
      await withTimeout(pool.query('select 1'), TIMEOUT_MS, 'the probe of the database');
      return true;
    } catch {
      return false;
    } finally {
      asking = undefined;
    }
  }

  return {
    answers: () => (asking ??= ask()),
    end: () => pool.end(),
  };
}
