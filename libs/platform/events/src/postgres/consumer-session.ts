import type { Pool } from 'pg';
import type { LoggedEvent, Unprocessable } from '../event-log';
import type { NextEvents } from './at-hand';
import {
  BURY_AGAIN,
  COUNT_OPEN_LETTERS,
  FETCH_REDELIVERY,
  redeliveryNote,
  REMOVE_LETTER,
} from './dead-letters';
import { BURY, COMMIT_POSITION, FETCH, LOCK_GROUP, NOTIFY_CHANNEL, REGISTER_GROUP } from './statements';

/** A connection that gives no answer for this long is taken for dead. */
const ANSWER_TIMEOUT_MS = 45_000;

/**
 * One connection that holds a group's lock, hears of new events and moves the
 * group's position. All of it on one connection: when that is lost the lock is
 * too, and with it the means to move the position, so that two members never
 * both believe to be in charge.
 */
export interface ConsumerSession {
  /** Makes this the member in charge; false while another one is. To be called first. */
  takeOver(): Promise<boolean>;
  fetch(maxEvents: number, maxBytes: number): Promise<NextEvents>;
  /** The group is done with everything up to and with this position. */
  commit(position: bigint): Promise<void>;
  /** Puts events that failed so many times into the dead letters. Idempotent. */
  bury(letters: readonly Unprocessable[], attempts: number, at: Date): Promise<void>;
  /** Dead letters of the group that wait, and those that are to be delivered again. */
  countLetters(): Promise<{ readonly waiting: number; readonly redelivering: number }>;
  /** The oldest dead letter after this position that someone asked to have delivered again. */
  fetchRedelivery(after: bigint): Promise<LoggedEvent | undefined>;
  /** A redelivered letter was handled. */
  removeLetter(position: bigint): Promise<void>;
  /** A redelivered letter failed again. */
  buryAgain(letter: Unprocessable, at: Date): Promise<void>;
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
  /** Of all rows, one after the other, in the first. */
  readonly payloads: Buffer | null;
}

export interface SessionEars {
  /** There are new events. */
  readonly wake: () => void;
  /** The connection is lost, and with it the charge: whatever is tried next fails. */
  readonly lose: () => void;
  /** Dead letters are to be delivered again. */
  readonly redeliver: () => void;
}

/** Opens a session. */
export async function openConsumerSession(
  pool: Pool,
  topic: string,
  group: string,
  { wake, lose, redeliver }: SessionEars,
): Promise<ConsumerSession> {
  const client = await pool.connect();
  let lost: Error | undefined;
  client.on('error', (error) => {
    lost = error;
    lose();
  });
  client.on('notification', ({ payload }) => {
    if (payload === topic) wake();
    if (payload === redeliveryNote({ topic, group })) redeliver();
  });
  const run = <Row extends object>(name: string, text: string, values: unknown[]) => {
    if (lost) throw lost;
    const query = { name: `event_log.${name}`, text, values, query_timeout: ANSWER_TIMEOUT_MS };
    return client.query<Row>(query);
  };
  return {
    async takeOver() {
      const { rows } = await run<{ locked: boolean }>('lock', LOCK_GROUP, [topic, group]);
      if (!rows[0]?.locked) return false;
      await run('register', REGISTER_GROUP, [topic, group]);
      // Plans are kept for as long as the session lasts: one made while a day was young would read it whole when it is old.
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
    async bury(letters, attempts, at) {
      const positions = letters.map(({ event }) => event.position);
      const reasons = letters.map(({ reason }) => storable(reason));
      await run('bury', BURY, [topic, group, positions, reasons, at, attempts]);
    },
    async countLetters() {
      const { rows } = await run<{ waiting: number; redelivering: number }>(
        'count_letters',
        COUNT_OPEN_LETTERS,
        [topic, group],
      );
      return rows[0] ?? { waiting: 0, redelivering: 0 };
    },
    async fetchRedelivery(after) {
      const { rows } = await run<EventRow>('redelivery', FETCH_REDELIVERY, [topic, group, after]);
      return rows[0] && eventOf(topic, rows[0]);
    },
    async removeLetter(position) {
      await run('remove_letter', REMOVE_LETTER, [topic, group, position]);
    },
    async buryAgain({ event, reason }, at) {
      await run('bury_again', BURY_AGAIN, [topic, group, event.position, storable(reason), at]);
    },
    close() {
      client.removeAllListeners('notification');
      // Never back into the pool: the session carries a lock and a subscription.
      client.release(true);
    },
  };
}

function storable(reason: string): string {
  return reason.replaceAll('\0', '');
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
