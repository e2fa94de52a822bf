import { DAY_MS } from '@gateway/base';
import { applyMigrations, createPool } from '@gateway/database';
import { createMetrics } from '@gateway/runtime';
import {
  createTestClock,
  createTestDatabase,
  readsOf,
  type TableRead,
  type TestClock,
  type TestDatabase,
} from '@gateway/test-support';
import type { Pool, PoolClient } from 'pg';
import { collector, numbered, textsOf } from '../event-log.contract';
import { openConsumerSession, type ConsumerSession } from './consumer-session';
import type { EventLogLimits } from '../delivery/limits';
import { createPostgresEventLog, IS_BEHIND, type PostgresEventLog } from './postgres-event-log';
import { EVENT_LOG_SCHEMA as schema, eventLogSchema } from './sql/schema';

jest.setTimeout(60_000);

const ignore = () => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

let database: TestDatabase;
let pool: Pool;
let clock: TestClock;
let log: PostgresEventLog;

beforeEach(async () => {
  database = await createTestDatabase();
  clock = createTestClock();
  pool = createPool({ url: database.url, schema, applicationName: 'days', maxConnections: 6 });
});

afterEach(async () => {
  await log.stop();
  await pool.end();
  await database.drop();
});

async function open(): Promise<void> {
  await applyMigrations(pool, eventLogSchema);
  log = openLog(pool);
}

function openLog(own: Pool, limits: Partial<EventLogLimits> = {}): PostgresEventLog {
  const metrics = createMetrics({ processMetrics: false });
  return createPostgresEventLog({ pool: own, clock, log: silent, metrics, limits });
}

const passTo = (topic: string, group: string, position: number) =>
  pool.query(
    `insert into consumer_groups values ($1, $2, $3)
     on conflict (topic, group_name) do update set position = excluded.position`,
    [topic, group, position],
  );

async function positions(topic: string): Promise<number[]> {
  const { rows } = await pool.query<{ position: bigint }>(
    'select position from events where topic = $1 order by 1',
    [topic],
  );
  return rows.map(({ position }) => Number(position));
}

async function rowsOutsideOfDays(): Promise<number> {
  const { rowCount } = await pool.query('select from only events_default');
  return rowCount ?? 0;
}

async function readAll(topic: string, count: number): Promise<string[]> {
  const seen = collector();
  const subscription = await log.subscribe({ topic, group: 'reader', handle: seen.handle });
  const texts = textsOf(await seen.atLeast(count));
  await subscription.stop();
  return texts;
}

/** Three events on each of three days. */
async function threeDays(): Promise<void> {
  await log.start();
  for (let day = 0; day < 3; day += 1) {
    await log.append('t', numbered(3));
    clock.advance(DAY_MS);
  }
}

it('drops a day when it is past its retention and every group has passed it', async () => {
  await open();
  await threeDays();
  await passTo('t', 'quick', 9);
  await passTo('t', 'slow', 4);
  expect(await log.deleteExpired()).toEqual({ days: 0, events: 0 });
  clock.advance(8 * DAY_MS);
  expect(await log.deleteExpired()).toEqual({ days: 1, events: 0 });
  expect(await positions('t')).toEqual([4, 5, 6, 7, 8, 9]);
  await passTo('t', 'slow', 6);
  expect(await log.deleteExpired()).toEqual({ days: 1, events: 0 });
  expect(await positions('t')).toEqual([7, 8, 9]);
});

it('keeps a day with an event of a topic without groups', async () => {
  await open();
  await log.start();
  await log.append('unread', numbered(1));
  await threeDays();
  await passTo('t', 'g', 9);
  clock.advance(10 * DAY_MS);
  expect(await log.deleteExpired()).toEqual({ days: 2, events: 0 });
  expect(await positions('unread')).toEqual([1]);
  expect(await positions('t')).toEqual([1, 2, 3]);
});

it('accepts events without a partition, and moves them later, in order', async () => {
  await open();
  await log.start();
  await log.append('t', numbered(2));
  clock.advance(30 * DAY_MS);
  await log.append('t', numbered(2));
  expect(await rowsOutsideOfDays()).toBe(2);
  await log.stop();
  await log.start();
  expect(await rowsOutsideOfDays()).toBe(0);
  await log.append('t', numbered(1));
  expect(await readAll('t', 5)).toEqual(['0', '1', '0', '1', '0']);
});

describe('among a million events of ten days', () => {
  const EVENTS_PER_TOPIC = 500_000;
  const TOPICS = ['finished', 'settled'];
  /** Distance from the end that puts a consumer into the second to last day. */
  const BEHIND = 60_000;

  beforeEach(async () => {
    await open();
    for (let day = 0; day <= 10; day += 1) {
      const today = openLog(pool, { retentionMs: 365 * DAY_MS });
      await today.start();
      await today.stop();
      if (day < 10) clock.advance(DAY_MS);
    }
    for (const topic of TOPICS) {
      await pool.query(
        `insert into events select $1, n, 'key', '\\x00', '{}', $2::timestamptz + (n * 864000000 / $3::bigint) * interval '1 ms'
         from generate_series(1, $3::bigint) as n`,
        [topic, new Date(clock.now() - 10 * DAY_MS), EVENTS_PER_TOPIC],
      );
      await pool.query('insert into topics values ($1, $2)', [topic, EVENTS_PER_TOPIC]);
      await passTo(topic, 'g', EVENTS_PER_TOPIC - BEHIND);
    }
    await pool.query('analyze events');
  });

  it('no statement reads more rows than it returns, and the retention reads only the last row of each day', async () => {
    await onOneConnection(async (one, client) => {
      const appending = openLog(one);
      const callbacks = { onEvents: ignore, onLost: ignore, onRedeliver: ignore };
      let session: ConsumerSession | undefined;
      const reads = await readsOf(client, async () => {
        await appending.append('finished', numbered(5));
        expect((await one.query(IS_BEHIND, ['finished', 'g'])).rowCount).toBe(1);
        session = await openConsumerSession(one, 'finished', 'g', callbacks);
        expect(await session.becomeLeader()).toBe(true);
        const { events, isLast } = await session.fetch(200, 32 * 1024 * 1024);
        expect([events.length, isLast]).toEqual([200, false]);
        const failed = events.slice(0, 3).map((event) => ({ event, reason: 'test' }));
        await session.deadLetter(failed, 1, new Date(clock.now()));
        await session.commit(events.at(-1)?.position ?? 0n);
      });
      session?.close();
      expect(readsOfEvents(reads).length).toBeGreaterThan(0);
      expectFlat(reads);
    });

    for (const topic of TOPICS) await passTo(topic, 'g', EVENTS_PER_TOPIC);
    await onOneConnection(async (one, client) => {
      const reads = await readsOf(client, async () => {
        expect(await openLog(one).deleteExpired()).toEqual({ days: 3, events: 0 });
      });
      // The last event of each topic in each dropped day.
      expect(readsOfEvents(reads).filter(({ table }) => table !== 'events_default')).toMatchObject(
        Array.from({ length: 3 }, () => ({ how: 'Index Only Scan', rows: TOPICS.length })),
      );
      expectFlat(reads);
    });
  });

  const readsOfEvents = (reads: readonly TableRead[]) =>
    reads.filter(({ table }) => table.startsWith('events_'));

  /** The default partition is empty, so it may be scanned. */
  function expectFlat(reads: readonly TableRead[]): void {
    const ofDays = readsOfEvents(reads).filter(({ table, rows }) => table !== 'events_default' || rows > 0);
    expect(ofDays.filter(({ how }) => !how.includes('Index'))).toEqual([]);
    expect(ofDays.filter(({ rows }) => rows > 201)).toEqual([]);
  }

  /** Runs work on the connection whose plans are inspected. */
  async function onOneConnection(work: (one: Pool, client: PoolClient) => Promise<void>): Promise<void> {
    const one = createPool({ url: database.url, schema, applicationName: 'plans', maxConnections: 1 });
    try {
      const client = await one.connect();
      client.release();
      await work(one, client);
    } finally {
      await one.end();
    }
  }
});
