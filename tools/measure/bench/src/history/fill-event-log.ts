import type { Pool } from 'pg';
import { EVENT_BYTES } from '../ledger/synthetic-batches';

export interface SyntheticEvents {
  readonly events: number;
  readonly fromUnixMs: number;
  readonly untilUnixMs: number;
}

const TOPICS = ['finished', 'settled'];
const EVENTS_PER_STATEMENT = 500_000;

/** $1 topic, $2 first position, $3 last position, $4 start in Unix milliseconds, $5 milliseconds between events. */
const FILL = `
  insert into events (topic, position, key, payload, headers, appended_at)
  select $1, position, 'org-' || position % 1000, decode(repeat('ab', ${EVENT_BYTES}), 'hex'), '{}',
    to_timestamp(($4::float8 + position * $5::float8) / 1000)
  from generate_series($2::bigint, $3::bigint) as position`;

/** Fills two topics with events. A consumer group has read all but the last few thousand. Needs a filling pool. */
export async function fillEventLog(pool: Pool, synthetic: SyntheticEvents): Promise<void> {
  const { events, fromUnixMs, untilUnixMs } = synthetic;
  const perTopic = Math.floor(events / TOPICS.length);
  const stepMs = (untilUnixMs - fromUnixMs) / perTopic;
  for (const topic of TOPICS) {
    await pool.query('insert into topics values ($1, $2)', [topic, perTopic]);
    for (let first = 1; first <= perTopic; first += EVENTS_PER_STATEMENT) {
      const last = Math.min(first + EVENTS_PER_STATEMENT - 1, perTopic);
      await pool.query(FILL, [topic, first, last, fromUnixMs, stepMs]);
    }
    const unread = Math.min(5_000, perTopic);
    await pool.query(`insert into consumer_groups values ($1, 'reader', $2)`, [topic, perTopic - unread]);
  }
  await pool.query('analyze events');
}
