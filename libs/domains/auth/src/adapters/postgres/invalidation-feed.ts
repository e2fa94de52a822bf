import { retry } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Pool, PoolClient } from 'pg';
import type { Invalidation, InvalidationFeed } from '@gateway/auth-shared';
import { ACKNOWLEDGEMENTS_CHANNEL, INVALIDATIONS_CHANNEL } from '@gateway/auth-shared/adapters';
import { InvalidationRing } from './invalidation-ring';
import { Waiters } from './waiters';

export interface InvalidationFeedOptions {
  readonly pool: Pool;
  /** One of its connections is kept for LISTEN. */
  readonly sessions: Pool;
  readonly log: Logger;
  /** A notification that was lost is made up for after this long. */
  readonly pollMs?: number;
  /** Watches that fall further behind are told to forget all. */
  readonly capacity?: number;
}

export interface RunningInvalidationFeed extends InvalidationFeed {
  /** Listens before it reads, so that nothing falls in between. */
  start(): Promise<void>;
  /** Ends every wait. Safe to call twice. */
  stop(): Promise<void>;
}

const DEFAULT_POLL_MS = 500;
const DEFAULT_CAPACITY = 4_096;
const RECONNECT = { firstMs: 50, maxMs: 2_000 };
/** Rows read at once. */
const READ_LIMIT = 1_000;

const READ = `
  select sequence, key_sha256, organization_id from invalidations
  where sequence > $1 order by sequence limit ${READ_LIMIT}`;

interface InvalidationRow {
  readonly sequence: bigint;
  readonly key_sha256: Buffer | null;
  readonly organization_id: string | null;
}

/** Follows the invalidations table: woken by NOTIFY, and by a timer in case a notification was lost. */
export function createPostgresInvalidationFeed({
  pool,
  sessions,
  log,
  pollMs = DEFAULT_POLL_MS,
  capacity = DEFAULT_CAPACITY,
}: InvalidationFeedOptions): RunningInvalidationFeed {
  const ring = new InvalidationRing(0n, capacity);
  const news = new Waiters();
  const acknowledgements = new Waiters();
  const stopping = new AbortController();
  let listener: PoolClient | undefined;
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> | undefined;
  let readAgain = false;

  /** One read at a time; a request during one makes it read again. */
  function catchUp(): Promise<void> {
    if (reading) {
      readAgain = true;
      return reading;
    }
    reading = (async () => {
      do {
        readAgain = false;
        await read();
      } while (readAgain);
    })().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function read(): Promise<void> {
    for (;;) {
      const before = ring.last;
      const { rows } = await pool.query<InvalidationRow>(READ, [before]);
      if (rows.length === 0) return;
      ring.append(rows.map(invalidationOf));
      news.wake();
      if (rows.length < READ_LIMIT) return;
    }
  }

  async function listen(): Promise<void> {
    const client = await sessions.connect();
    try {
      client.on('notification', ({ channel }) => {
        if (channel === ACKNOWLEDGEMENTS_CHANNEL) acknowledgements.wake();
        else catchUpOrLog();
      });
      client.on('error', () => undefined);
      client.once('end', () => void relisten(client));
      await client.query(`listen ${INVALIDATIONS_CHANNEL}`);
      await client.query(`listen ${ACKNOWLEDGEMENTS_CHANNEL}`);
      // A stop in the meantime found no listener to release, and the pool would wait for this one for ever.
      if (stopping.signal.aborted) throw new Error('stopped while connecting');
      listener = client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async function relisten(lost: PoolClient): Promise<void> {
    if (listener !== lost || stopping.signal.aborted) return;
    listener = undefined;
    lost.release(true);
    log.warn('the connection that listens for key invalidations was lost; connecting again');
    try {
      await retry(listen, {
        backoff: RECONNECT,
        signal: stopping.signal,
        onRetry: (error) => log.warn({ err: error }, 'cannot listen for key invalidations yet'),
      });
    } catch {
      // Stopped while it was reconnecting.
      return;
    }
    catchUpOrLog();
  }

  function catchUpOrLog(): void {
    if (stopping.signal.aborted) return;
    catchUp().catch((error: unknown) => log.warn({ err: error }, 'cannot read key invalidations'));
  }

  return {
    async start() {
      await listen();
      const { rows } = await pool.query<{ last: bigint }>('select last from invalidation_counter');
      ring.restart(rows[0]?.last ?? 0n);
      await catchUp();
      timer = setInterval(catchUpOrLog, pollMs);
      timer.unref();
    },

    async stop() {
      if (stopping.signal.aborted) return;
      stopping.abort();
      clearInterval(timer);
      news.wake();
      acknowledgements.wake();
      await reading?.catch(() => undefined);
      const client = listener;
      listener = undefined;
      // A connection that still listens must not go back to the pool.
      client?.release(true);
    },

    async after(sequence, signal) {
      for (;;) {
        if (signal.aborted || stopping.signal.aborted) return [];
        const invalidations = ring.after(sequence);
        if (invalidations.length > 0) return invalidations;
        await news.wait(signal);
      }
    },

    async acknowledged(maxMs, signal) {
      if (stopping.signal.aborted) return;
      await acknowledgements.wait(signal, maxMs);
    },
  };
}

function invalidationOf({ sequence, key_sha256, organization_id }: InvalidationRow): Invalidation {
  if (key_sha256) return { sequence, target: { kind: 'key', sha256: key_sha256 } };
  return { sequence, target: { kind: 'organization', id: organization_id ?? '' } };
}
