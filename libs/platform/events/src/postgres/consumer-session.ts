import { maintainConnection, storableText, type Clock } from '@gateway/base';
import type { DatabaseLog } from '@gateway/database';
import type { Pool } from 'pg';
import type { EventLogInstruments } from '../delivery/instruments';
import type { EventLogLimits } from '../delivery/limits';
import type { Waiter } from '../delivery/waiter';
import type { LoggedEvent, TopicGroup, Unprocessable } from '../event-log';
import { NOTIFY_CHANNEL } from './append-events';
import type { NextEvents } from './committed-event-buffer';
import {
  FAIL_REDELIVERY,
  COUNT_OPEN,
  FETCH_REDELIVERY,
  redeliveryNote,
  DELETE_REDELIVERED,
} from './dead-letters';

/** $1 topic, $2 group. */
const REGISTER_GROUP = `
  insert into event_log.consumer_groups (topic, group_name, position) values ($1, $2, 0)
  on conflict do nothing`;

/** $1 topic, $2 group. Held by the session, so it ends with the connection. */
const LOCK_GROUP = `
  select pg_try_advisory_lock(hashtextextended('event_log/' || $1 || '/' || $2, 0)) as locked`;

/**
 * $1 topic, $2 group, $3 max events, $4 max bytes. The events after the group's
 * position; always at least one, however large. Each row also has the topic's last
 * position. The first row has all payloads concatenated: decoding them separately
 * takes five times as long.
 */
const FETCH = `
  with next as (
    select e.position, e.key, e.payload, e.headers,
           sum(octet_length(e.payload)) over (order by e.position) - octet_length(e.payload) as bytes_before
    from event_log.events e
    where e.topic = $1
      and e.position > (select position from event_log.consumer_groups where topic = $1 and group_name = $2)
    order by e.position
    limit $3
  ), taken as (
    select position, key, payload, headers from next where bytes_before < $4
  )
  select position, key, octet_length(payload) as bytes, headers,
         (select last_position from event_log.topics where topic = $1) as last_position,
         case position when (select min(position) from taken)
           then (select string_agg(payload, '' order by position) from taken) end as payloads
  from taken order by position`;

/** $1 topic, $2 group, $3 position. */
const COMMIT_POSITION = `
  update event_log.consumer_groups set position = greatest(position, $3)
  where topic = $1 and group_name = $2`;

/** $1 topic, $2 group, $3 positions, $4 reasons, $5 now, $6 attempts. Idempotent. */
const INSERT_DEAD_LETTERS = `
  insert into event_log.dead_letters (
    topic, group_name, position, key, payload, headers, reason, dead_lettered_at, failed_at, attempts
  )
  select e.topic, $2, e.position, e.key, e.payload, e.headers, d.reason, $5, $5, $6
  from unnest($3::bigint[], $4::text[]) as d (position, reason)
  join event_log.events e on e.topic = $1 and e.position = d.position
  on conflict do nothing`;

/**
 * One connection that holds a group's lock, listens for new events and moves the
 * group's position. A lost connection loses the lock and can no longer move the
 * position, so a group never has two leaders.
 */
export interface ConsumerSession {
  /** Tries to become the leader; returns false while another member is. Must be called first. */
  becomeLeader(): Promise<boolean>;
  fetch(maxEvents: number, maxBytes: number): Promise<NextEvents>;
  /** Records that the group has processed everything up to and including this position. */
  commit(position: bigint): Promise<void>;
  /** Stores failed events as dead letters. Idempotent. */
  deadLetter(failed: readonly Unprocessable[], attempts: number, at: Date): Promise<void>;
  /** The number of the group's dead letters by state. */
  countDeadLetters(): Promise<{ readonly waiting: number; readonly redelivering: number }>;
  /** The oldest dead letter to redeliver after this position. */
  fetchRedelivery(after: bigint): Promise<LoggedEvent | undefined>;
  /** A redelivered dead letter was handled. */
  deleteRedelivered(position: bigint): Promise<void>;
  /** A redelivered dead letter failed again. */
  failRedelivery(deadLetter: Unprocessable, at: Date): Promise<void>;
  close(): void;
}

interface EventRow {
  readonly position: bigint;
  readonly key: string;
  readonly payload: Buffer;
  readonly headers: Record<string, string>;
}

interface FetchedRow extends Omit<EventRow, 'payload'> {
  readonly bytes: number;
  readonly last_position: bigint;
  /** In the first row: the payloads of all rows, concatenated. */
  readonly payloads: Buffer | null;
}

export interface ConsumerCallbacks {
  /** The topic has new events. */
  readonly onEvents: () => void;
  /** The connection is lost, and with it the lock: the next query fails. */
  readonly onLost: () => void;
  /** Redeliveries are requested. */
  readonly onRedeliver: () => void;
}

/** Opens a session. */
export async function openConsumerSession(
  pool: Pool,
  topic: string,
  group: string,
  { onEvents, onLost, onRedeliver }: ConsumerCallbacks,
): Promise<ConsumerSession> {
  const client = await pool.connect();
  let lost: Error | undefined;
  client.on('error', (error) => {
    lost = error;
    onLost();
  });
  client.on('notification', ({ payload }) => {
    if (payload === topic) onEvents();
    if (payload === redeliveryNote({ topic, group })) onRedeliver();
  });
  const run = <Row extends object>(name: string, text: string, values: unknown[]) => {
    if (lost) throw lost;
    return client.query<Row>({ name: `event_log.${name}`, text, values });
  };
  return {
    async becomeLeader() {
      const { rows } = await run<{ locked: boolean }>('lock', LOCK_GROUP, [topic, group]);
      if (!rows[0]?.locked) return false;
      await run('register', REGISTER_GROUP, [topic, group]);
      // Plans are cached for the session. One for a small partition would scan it after it has grown.
      await client.query(`set enable_seqscan = off; listen ${NOTIFY_CHANNEL}`);
      return true;
    },
    async fetch(maxEvents, maxBytes) {
      const { rows } = await run<FetchedRow>('fetch', FETCH, [topic, group, maxEvents, maxBytes]);
      return { events: eventsOf(topic, rows), isLast: rows.at(-1)?.position === rows[0]?.last_position };
    },
    async commit(position) {
      await run('commit', COMMIT_POSITION, [topic, group, position]);
    },
    async deadLetter(failed, attempts, at) {
      const positions = failed.map(({ event }) => event.position);
      const reasons = failed.map(({ reason }) => storableText(reason));
      await run('insert_dead_letters', INSERT_DEAD_LETTERS, [topic, group, positions, reasons, at, attempts]);
    },
    async countDeadLetters() {
      const { rows } = await run<{ waiting: number; redelivering: number }>(
        'count_dead_letters',
        COUNT_OPEN,
        [topic, group],
      );
      return rows[0] ?? { waiting: 0, redelivering: 0 };
    },
    async fetchRedelivery(after) {
      const { rows } = await run<EventRow>('redelivery', FETCH_REDELIVERY, [topic, group, after]);
      return rows[0] && eventOf(topic, rows[0]);
    },
    async deleteRedelivered(position) {
      await run('delete_redelivered', DELETE_REDELIVERED, [topic, group, position]);
    },
    async failRedelivery({ event, reason }, at) {
      await run('fail_redelivery', FAIL_REDELIVERY, [topic, group, event.position, storableText(reason), at]);
    },
    close() {
      client.removeAllListeners('notification');
      // Not returned to the pool: the connection holds a lock and listens.
      client.release(true);
    },
  };
}

export interface ConsumerDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: DatabaseLog;
  readonly limits: EventLogLimits;
  readonly instruments: EventLogInstruments;
  /** Whether a handler's error is temporary. Such deliveries are retried indefinitely. */
  readonly isTransient: (error: unknown) => boolean;
}

export interface SessionWork extends Omit<ConsumerCallbacks, 'onEvents'> {
  /** Called for each session once this member leads the group. */
  readonly lead: (session: ConsumerSession) => Promise<void>;
  /** For the log. */
  readonly failureText: string;
}

/** Keeps a session open until the waiter stops: waits for the group's lock, then leads. */
export function keepSessionOpen(
  { topic, group }: TopicGroup,
  { pool, limits, log }: ConsumerDeps,
  waiter: Waiter,
  { lead, failureText, onLost, onRedeliver }: SessionWork,
): Promise<void> {
  return maintainConnection(
    async (opened) => {
      const callbacks = { onEvents: waiter.wake, onLost, onRedeliver };
      const session = await openConsumerSession(pool, topic, group, callbacks);
      try {
        while (!waiter.stopped && !(await session.becomeLeader())) await waiter.pause(limits.lockRetryMs);
        opened();
        await lead(session);
      } finally {
        session.close();
      }
    },
    {
      backoff: limits.backoff,
      signal: waiter.signal,
      onFailure: (error, { failures }) => log.warn({ err: error, topic, group, failures }, failureText),
    },
  );
}

function eventOf(topic: string, { position, key, payload, headers }: EventRow): LoggedEvent {
  return { topic, position, key, payload, headers };
}

function eventsOf(topic: string, rows: readonly FetchedRow[]): LoggedEvent[] {
  const payloads = rows[0]?.payloads;
  let end = 0;
  return rows.map(({ position, key, bytes, headers }) => {
    const payload = payloads?.subarray(end, (end += bytes));
    if (payload?.length !== bytes) throw new Error('events were fetched without their payloads');
    return { topic, position, key, payload, headers };
  });
}
