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
    let timer: NodeJS.Timeout | undefined;
    // A server that is frozen keeps neither of the two promises above.
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), TIMEOUT_MS);
    });
    const answer = pool.query('select 1').then(
      () => true,
      () => false,
    );
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
      asking = undefined;
    }
  }

  return {
    answers: () => (asking ??= ask()),
    end: () => pool.end(),
  };
}
