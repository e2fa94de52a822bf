import { Condition, retry } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Pool, PoolClient } from 'pg';
import type { Invalidation, InvalidationFeed } from '@gateway/auth-shared';
import { ACKNOWLEDGEMENTS_CHANNEL, INVALIDATIONS_CHANNEL } from '@gateway/auth-shared/adapters';
import { InvalidationRing } from './invalidation-ring';

export interface InvalidationFeedOptions {
  readonly pool: Pool;
  /** One of its connections is held for LISTEN. */
  readonly sessions: Pool;
  readonly log: Logger;
  /** Polling interval, in case a notification was lost. */
  readonly pollMs?: number;
  /** Number of invalidations in memory. A watch that falls further behind evicts everything. */
  readonly capacity?: number;
}

export interface RunningInvalidationFeed extends InvalidationFeed {
  /** Listens before it reads, so that no invalidation is missed. */
  start(): Promise<void>;
  /** Resolves all pending waits. Idempotent. */
  stop(): Promise<void>;
}

const DEFAULT_POLL_MS = 500;
const DEFAULT_CAPACITY = 4_096;
const RECONNECT = { firstMs: 50, maxMs: 2_000 };
/** Rows per query. */
const READ_LIMIT = 1_000;

const READ = `
  select sequence, key_sha256, organization_id from invalidations
  where sequence > $1 order by sequence limit ${READ_LIMIT}`;

const READ_LAST = 'select last from invalidation_counter';

interface InvalidationRow {
  readonly sequence: bigint;
  readonly key_sha256: Buffer | null;
  readonly organization_id: string | null;
}

/** Reads new rows of the invalidations table on NOTIFY, and on a timer in case a notification was lost. */
export function createPostgresInvalidationFeed({
  pool,
  sessions,
  log,
  pollMs = DEFAULT_POLL_MS,
  capacity = DEFAULT_CAPACITY,
}: InvalidationFeedOptions): RunningInvalidationFeed {
  const ring = new InvalidationRing(0n, capacity);
  const appends = new Condition();
  const acknowledgements = new Condition();
  const stopping = new AbortController();
  let listener: PoolClient | undefined;
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> | undefined;
  let readAgain = false;

  /** Runs one read at a time. A call during a read schedules another. */
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
      if (rows.length === 0) return restartIfLost();
      ring.append(rows.map(invalidationOf));
      appends.notifyAll();
      if (rows.length < READ_LIMIT) return;
    }
  }

  /** A failover to an asynchronous standby, or a restore, loses invalidations, and their numbers are used again. */
  async function restartIfLost(): Promise<void> {
    const { rows } = await pool.query<{ last: bigint }>(READ_LAST);
    const last = rows[0]?.last;
    if (last === undefined || last >= ring.last) return;
    log.warn(
      { last: String(last), known: String(ring.last) },
      'the database lost key invalidations; edges evict every key',
    );
    ring.restart(last);
    appends.notifyAll();
  }

  async function listen(): Promise<void> {
    const client = await sessions.connect();
    try {
      client.on('notification', ({ channel }) => {
        if (channel === ACKNOWLEDGEMENTS_CHANNEL) acknowledgements.notifyAll();
        else catchUpOrLog();
      });
      client.on('error', () => undefined);
      client.once('end', () => void relisten(client));
      await client.query(`listen ${INVALIDATIONS_CHANNEL}`);
      await client.query(`listen ${ACKNOWLEDGEMENTS_CHANNEL}`);
      // `stop` ran meanwhile and found no listener to release. Unreleased, it would keep the pool from ending.
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
    log.warn('the connection that listens for key invalidations was lost; reconnecting');
    try {
      await retry(listen, {
        backoff: RECONNECT,
        signal: stopping.signal,
        onRetry: (error) => log.warn({ err: error }, 'cannot listen for key invalidations yet'),
      });
    } catch {
      // Stopped while reconnecting.
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
      const { rows } = await pool.query<{ last: bigint }>(READ_LAST);
      ring.restart(rows[0]?.last ?? 0n);
      await catchUp();
      timer = setInterval(catchUpOrLog, pollMs);
      timer.unref();
    },

    async stop() {
      if (stopping.signal.aborted) return;
      stopping.abort();
      clearInterval(timer);
      appends.notifyAll();
      acknowledgements.notifyAll();
      await reading?.catch(() => undefined);
      const client = listener;
      listener = undefined;
      // A listening connection must not return to the pool.
      client?.release(true);
    },

    async after(sequence, signal) {
      for (;;) {
        if (signal.aborted || stopping.signal.aborted) return [];
        // The watch is ahead of this process, or the database has lost an invalidation.
        if (sequence > ring.last) await catchUp();
        if (sequence > ring.last) return [{ sequence: ring.last, target: { kind: 'all' } }];
        const invalidations = ring.after(sequence);
        if (invalidations.length > 0) return invalidations;
        await appends.wait(signal);
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
