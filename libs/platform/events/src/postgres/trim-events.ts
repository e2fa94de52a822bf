import type { Clock } from '@gateway/base';
import { dropPartitions, makePartitions, type PartitionedTable } from '@gateway/database';
import type { Pool } from 'pg';
import type { EventLogLimits } from '../delivery/limits';
import { EVENT_LOG_SCHEMA } from './sql/schema';

/** What went: whole days, and events that were in no day's partition. */
export interface Trimmed {
  readonly days: number;
  readonly events: number;
}

const TRIM_BATCH_EVENTS = 5_000;
/** Partitions that are ready before their day begins. */
const DAYS_AHEAD = 2;

const EVENTS: PartitionedTable = {
  schema: EVENT_LOG_SCHEMA,
  table: 'events',
  key: 'appended_at',
  period: 'day',
  leastKeyAt: (unixMs) => new Date(unixMs).toISOString(),
};

/** Makes the partitions of today and the next days. Without them events go to the default one. */
export async function prepareDays(pool: Pool, clock: Clock): Promise<void> {
  await makePartitions(pool, EVENTS, { nowUnixMs: clock.now(), ahead: DAYS_AHEAD });
}

/** Removes events that are past their retention and that every group of their topic has passed. */
export async function trimEvents(
  pool: Pool,
  clock: Clock,
  { retentionMs }: Pick<EventLogLimits, 'retentionMs'>,
): Promise<Trimmed> {
  const untilUnixMs = clock.now() - retentionMs;
  const days = await dropPartitions(pool, EVENTS, {
    untilUnixMs,
    async mayDrop(client, { name }) {
      const { rowCount } = await client.query(HOLDS_UNPASSED(name));
      return rowCount === 0;
    },
  });
  let events = 0;
  for (;;) {
    const { rowCount } = await pool.query(TRIM_DEFAULT, [new Date(untilUnixMs), TRIM_BATCH_EVENTS]);
    events += rowCount ?? 0;
    if ((rowCount ?? 0) < TRIM_BATCH_EVENTS) return { days, events };
  }
}

/**
 * A row when a day's partition has an event that some group has yet to pass, or
 * one of a topic that nobody reads. One look at the key's end for each topic.
 */
const HOLDS_UNPASSED = (partition: string): string => `
  select from event_log.topics t
  where (select max(e.position) from event_log."${partition}" e where e.topic = t.topic)
    > coalesce((select min(g.position) from event_log.consumer_groups g where g.topic = t.topic), 0)
  limit 1`;

/**
 * $1 appended before, $2 most rows. The same for events that came before their
 * day's partition was made; as many are looked at as may go.
 */
const TRIM_DEFAULT = `
  delete from event_log.events_default e
  using (select topic, min(position) as passed from event_log.consumer_groups group by topic) g
  cross join lateral (
    select d.position, d.appended_at from event_log.events_default d
    where d.topic = g.topic and d.position <= g.passed
    order by d.position
    limit $2
  ) oldest
  where e.topic = g.topic and e.position = oldest.position and oldest.appended_at < $1`;
