import type { Clock } from '@gateway/base';
import { dropPartitions, createPartitions, type PartitionedTable } from '@gateway/database';
import type { Pool } from 'pg';
import type { EventLogLimits } from '../delivery/limits';
import { EVENT_LOG_SCHEMA } from './sql/schema';

/** Dropped partitions of days, and events deleted from the default partition. */
export interface DeletedEvents {
  readonly days: number;
  readonly events: number;
}

const MAX_DELETED_ROWS = 5_000;
/** Partitions created before their day starts. */
const DAYS_AHEAD = 2;

const EVENTS: PartitionedTable = {
  schema: EVENT_LOG_SCHEMA,
  table: 'events',
  key: 'appended_at',
  period: 'day',
  smallestKeyAt: (unixMs) => new Date(unixMs).toISOString(),
};

/** Creates the partitions of today and the next days. Without them events go to the default partition. */
export async function createDayPartitions(pool: Pool, clock: Clock): Promise<void> {
  await createPartitions(pool, EVENTS, { nowUnixMs: clock.now(), ahead: DAYS_AHEAD });
}

/** Deletes events that are past their retention and that every group of their topic has passed. */
export async function deleteExpiredEvents(
  pool: Pool,
  clock: Clock,
  { retentionMs }: Pick<EventLogLimits, 'retentionMs'>,
): Promise<DeletedEvents> {
  const untilUnixMs = clock.now() - retentionMs;
  const days = await dropPartitions(pool, EVENTS, {
    untilUnixMs,
    async mayDrop(client, { name }) {
      const { rowCount } = await client.query(HAS_UNREAD_EVENTS(name));
      return rowCount === 0;
    },
  });
  let events = 0;
  for (;;) {
    const { rowCount } = await pool.query(DELETE_FROM_DEFAULT, [new Date(untilUnixMs), MAX_DELETED_ROWS]);
    events += rowCount ?? 0;
    if ((rowCount ?? 0) < MAX_DELETED_ROWS) return { days, events };
  }
}

/**
 * Returns a row if a day's partition has an event that some group has not passed,
 * or an event of a topic without groups. Needs one index lookup per topic.
 */
const HAS_UNREAD_EVENTS = (partition: string): string => `
  select from event_log.topics t
  where (select max(e.position) from event_log."${partition}" e where e.topic = t.topic)
    > coalesce((select min(g.position) from event_log.consumer_groups g where g.topic = t.topic), 0)
  limit 1`;

/**
 * $1 appended before, $2 max rows. Deletes such events from the default partition.
 */
const DELETE_FROM_DEFAULT = `
  delete from event_log.events_default e
  using (select topic, min(position) as passed from event_log.consumer_groups group by topic) g
  cross join lateral (
    select d.position, d.appended_at from event_log.events_default d
    where d.topic = g.topic and d.position <= g.passed
    order by d.position
    limit $2
  ) oldest
  where e.topic = g.topic and e.position = oldest.position and oldest.appended_at < $1`;
