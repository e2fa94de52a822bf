import { createAuditEntries, insertAuditEntry } from '@gateway/audit';
import { bisectBatch, storableText, type AuditEntry, type Clock, type UnixMs } from '@gateway/base';
import { inTransaction, isTransientDatabaseError } from '@gateway/database';
import type { Pool } from 'pg';
import type {
  DeadLetter,
  DeadLetterRef,
  DeadLetters,
  DeadLetterState,
  DeadLetterWithPayload,
} from '../dead-letters';
import type { LoggedEvent, Unprocessable } from '../event-log';
import { NOTIFY_CHANNEL } from './append-events';
import { EVENT_LOG_SCHEMA } from './sql/schema';

const COLUMNS = `
  position, key, state, reason, attempts, dead_lettered_at, failed_at,
  discarded_at, discarded_reason, octet_length(payload) as payload_bytes`;

/** $1 topic, $2 group, $3 state, $4 before or null, $5 max rows. */
const LIST = `
  select ${COLUMNS} from event_log.dead_letters
  where topic = $1 and group_name = $2 and state = $3 and ($4::bigint is null or position < $4)
  order by position desc
  limit $5`;

const READ = `
  select ${COLUMNS}, payload, headers from event_log.dead_letters
  where topic = $1 and group_name = $2 and position = $3`;

/** Notifies the leader of the group. */
const REDELIVER = `
  with requested as (
    update event_log.dead_letters
    set state = 'redelivering', discarded_at = null, discarded_reason = null
    where topic = $1 and group_name = $2 and position = $3
    returning position
  )
  select position, pg_notify('${NOTIFY_CHANNEL}', $4) from requested`;

/** $4 reason, $5 now. Discarding again changes nothing, not even the reason. */
const DISCARD = `
  update event_log.dead_letters set state = 'discarded', discarded_reason = $4, discarded_at = $5
  where topic = $1 and group_name = $2 and position = $3 and state = 'waiting'`;

/** Higher than every position of a topic: a partition can have 35 trillion events. */
const POSITION_STEP = 1n << 55n;
/** APIs accept positions of 18 digits. */
const MAX_POSITION = 10n ** 18n - 1n;

/**
 * $1 topic, $2 group, $3 positions, $4 reasons, $5 now, $6 attempts, $7 keys, $8 payloads, $9 headers. For
 * events that are not in this database. Idempotent. A topic that was created again reuses positions: where a dead
 * letter with another payload is stored, a step is added.
 */
const INSERT_WITH_PAYLOAD = `
  insert into event_log.dead_letters (
    topic, group_name, position, key, payload, headers, reason, dead_lettered_at, failed_at, attempts
  )
  select $1, $2, free.position, d.key, d.payload, d.headers, d.reason, $5, $5, $6
  from unnest($3::bigint[], $4::text[], $7::text[], $8::bytea[], $9::jsonb[])
    as d (position, reason, key, payload, headers)
  cross join lateral (
    select candidate as position
    from generate_series(d.position, ${MAX_POSITION}, ${POSITION_STEP}) as candidate
    left join event_log.dead_letters known
      on known.topic = $1 and known.group_name = $2 and known.position = candidate
    where known.position is null or known.payload = d.payload
    order by candidate limit 1
  ) free
  on conflict do nothing`;

/** $1 discarded before, $2 max rows. */
const DELETE_DISCARDED = `
  delete from event_log.dead_letters where ctid in (
    select ctid from event_log.dead_letters where state = 'discarded' and discarded_at < $1 limit $2
  )`;

const MAX_DELETED_ROWS = 5_000;

/** The payload of the notification that requests redeliveries of a group. */
export function redeliveryNote({ topic, group }: Pick<DeadLetterRef, 'topic' | 'group'>): string {
  return `${topic} ${group}`;
}

/** Bounds the cost of a count; larger numbers need no exact value. */
const MAX_COUNTED = 10_000;

const countOf = (state: DeadLetterState) => `
  (select count(*)::integer from (
    select from event_log.dead_letters
    where topic = $1 and group_name = $2 and state = '${state}' limit ${MAX_COUNTED}) counted)`;

/** $1 topic, $2 group. Dead letters that are neither handled nor discarded. */
export const COUNT_OPEN = `
  select ${countOf('waiting')} as waiting, ${countOf('redelivering')} as redelivering`;

/** $1 topic, $2 group. */
const COUNT = `${COUNT_OPEN}, ${countOf('discarded')} as discarded`;

/** $1 topic, $2 group, $3 after this position. One at a time, since payloads may be large. */
export const FETCH_REDELIVERY = `
  select position, key, payload, headers from event_log.dead_letters
  where topic = $1 and group_name = $2 and state = 'redelivering' and position > $3
  order by position
  limit 1`;

/** $1 topic, $2 group, $3 position. */
export const DELETE_REDELIVERED = `
  delete from event_log.dead_letters
  where topic = $1 and group_name = $2 and position = $3 and state = 'redelivering'`;

/** $1 topic, $2 group, $3 position, $4 reason, $5 now. */
export const FAIL_REDELIVERY = `
  update event_log.dead_letters set state = 'waiting', reason = $4, attempts = attempts + 1, failed_at = $5
  where topic = $1 and group_name = $2 and position = $3 and state = 'redelivering'`;

interface Row {
  readonly position: bigint;
  readonly key: string;
  readonly state: DeadLetterState;
  readonly reason: string;
  readonly attempts: number;
  readonly dead_lettered_at: Date;
  readonly failed_at: Date;
  readonly discarded_at: Date | null;
  readonly discarded_reason: string | null;
  readonly payload_bytes: number;
}

interface RowWithPayload extends Row {
  readonly payload: Buffer;
  readonly headers: LoggedEvent['headers'];
}

export interface PostgresDeadLetters extends DeadLetters {
  /** Deletes dead letters that were discarded before this time and returns how many. */
  deleteDiscarded(discardedBefore: Date): Promise<number>;
}

/**
 * Stores events that could not be handled. An event that PostgreSQL does not accept
 * as it is, for example because of its headers, is stored without key and headers, so
 * that no event blocks the ones behind it. Rejects while the database is unavailable.
 */
export async function insertDeadLetters(
  pool: Pool,
  ref: Pick<DeadLetterRef, 'topic' | 'group'>,
  failed: readonly Unprocessable[],
  attempts: number,
  at: Date,
): Promise<void> {
  const refused: Unprocessable[] = [];
  const insert = (rows: readonly Unprocessable[]) =>
    pool.query(INSERT_WITH_PAYLOAD, [
      ref.topic,
      ref.group,
      rows.map(({ event }) => event.position),
      rows.map(({ reason }) => storableText(reason)),
      at,
      attempts,
      rows.map(({ event }) => storableText(event.key)),
      rows.map(({ event: { payload } }) =>
        Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
      ),
      rows.map(({ event }) => JSON.stringify(event.headers, storableValue)),
    ]);
  await bisectBatch(
    failed,
    async (rows) => (await insert(rows)).rows,
    (error): error is Error => error instanceof Error && !isTransientDatabaseError(error),
    (row, error) => {
      refused.push({
        event: { ...row.event, key: '', headers: {} },
        reason: `${row.reason} (stored without key and headers: ${error.message})`,
      });
      return [];
    },
  );
  if (refused.length > 0) await insert(refused);
}

function storableValue(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? storableText(value) : value;
}

export function createPostgresDeadLetters(pool: Pool, clock: Clock): PostgresDeadLetters {
  const find = async ({
    topic,
    group,
    position,
  }: DeadLetterRef): Promise<DeadLetterWithPayload | undefined> => {
    const { rows } = await pool.query<RowWithPayload>(READ, [topic, group, position]);
    const [row] = rows;
    return row && { ...deadLetterOf({ topic, group }, row), payload: row.payload, headers: row.headers };
  };

  /** @returns whether a dead letter was changed. */
  const change = (text: string, values: readonly unknown[], audit: AuditEntry): Promise<boolean> =>
    inTransaction(pool, async (client) => {
      const { rowCount } = await client.query(text, [...values]);
      if (!rowCount) return false;
      await insertAuditEntry(client, EVENT_LOG_SCHEMA, audit);
      return true;
    });

  return {
    async count({ topic, group }) {
      const { rows } = await pool.query<Record<DeadLetterState, number>>(COUNT, [topic, group]);
      return rows[0] ?? { waiting: 0, redelivering: 0, discarded: 0 };
    },

    async list({ topic, group, state, before, limit }) {
      const values = [topic, group, state, before ?? null, limit + 1];
      const { rows } = await pool.query<Row>(LIST, values);
      const deadLetters = rows.slice(0, limit).map((row) => deadLetterOf({ topic, group }, row));
      return { deadLetters, nextBefore: rows.length > limit ? deadLetters.at(-1)?.position : undefined };
    },

    read: find,

    async redeliver(ref, audit) {
      const { topic, group, position } = ref;
      const values = [topic, group, position, redeliveryNote(ref)];
      return (await change(REDELIVER, values, audit)) ? 'redelivering' : 'not_found';
    },

    async discard(ref, reason, audit) {
      const { topic, group, position } = ref;
      const values = [topic, group, position, reason, new Date(clock.now())];
      if (await change(DISCARD, values, audit)) return 'discarded';
      const deadLetter = await find(ref);
      if (!deadLetter) return 'not_found';
      return deadLetter.state === 'discarded' ? 'discarded' : 'redelivering';
    },

    auditEntries: createAuditEntries(pool, EVENT_LOG_SCHEMA),

    async deleteDiscarded(discardedBefore) {
      const { rowCount } = await pool.query(DELETE_DISCARDED, [discardedBefore, MAX_DELETED_ROWS]);
      return rowCount ?? 0;
    },
  };
}

function deadLetterOf({ topic, group }: Pick<DeadLetterRef, 'topic' | 'group'>, row: Row): DeadLetter {
  const { discarded_at: at, discarded_reason: reason } = row;
  return {
    topic,
    group,
    position: row.position,
    key: row.key,
    state: row.state,
    reason: row.reason,
    attempts: row.attempts,
    deadLetteredUnixMs: row.dead_lettered_at.getTime() as UnixMs,
    failedUnixMs: row.failed_at.getTime() as UnixMs,
    discarded: at === null || reason === null ? undefined : { unixMs: at.getTime() as UnixMs, reason },
    payloadBytes: row.payload_bytes,
  };
}
