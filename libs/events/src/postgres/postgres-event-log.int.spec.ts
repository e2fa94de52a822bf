import { applyMigrations, createPool, inTransaction } from '@gateway/database';
import { createMetrics } from '@gateway/runtime';
import { createTestClock, createTestDatabase, type TestDatabase } from '@gateway/testing';
import type { Pool } from 'pg';
import { describeDeadLetters } from '../dead-letters.contract';
import {
  collector,
  describeEventLog,
  event,
  numbered,
  textsOf,
  type EventLogHarness,
  type EventLogProcess,
} from '../event-log.contract';
import { createPostgresEventLog, type PostgresEventLog } from './postgres-event-log';
import type { EventLogLimits } from '../delivery/limits';
import { eventLogMigrations } from './migrations';
import { EVENT_LOG_SCHEMA } from './statements';

const ignore = () => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
/** Looking without having been woken is as good as off, so that a lost notification shows. */
const QUICK: Partial<EventLogLimits> = {
  backoff: { firstMs: 1, maxMs: 5 },
  lockRetryMs: 20,
  gatherMs: 0,
  pollIntervalMs: 600_000,
  lagIntervalMs: 20,
};

let database: TestDatabase;
let admin: Pool;
const clock = createTestClock();

function poolNamed(applicationName: string): Pool {
  return createPool({ url: database.url, schema: EVENT_LOG_SCHEMA, applicationName, maxConnections: 6 });
}

interface OpenLog extends PostgresEventLog {
  readonly pool: Pool;
  readonly metrics: ReturnType<typeof createMetrics>;
}

/** Stopped after each test, also when it failed. */
let opened: OpenLog[] = [];

function openLog(limits: Partial<EventLogLimits> = {}, applicationName = 'test'): OpenLog {
  const pool = poolNamed(applicationName);
  const metrics = createMetrics({ processMetrics: false });
  const log = createPostgresEventLog({ pool, clock, log: silent, metrics, limits: { ...QUICK, ...limits } });
  let stopping: Promise<void> | undefined;
  const own = { ...log, pool, metrics, stop: () => (stopping ??= log.stop().then(() => pool.end())) };
  opened.push(own);
  return own;
}

beforeAll(async () => {
  database = await createTestDatabase();
  admin = poolNamed('admin');
  await applyMigrations(admin, { schema: EVENT_LOG_SCHEMA, migrations: eventLogMigrations });
});

afterAll(async () => {
  await admin.end();
  await database.drop();
});

describeEventLog('the log on PostgreSQL', createHarness);
describeDeadLetters('the log on PostgreSQL', createHarness);

async function createHarness(): Promise<EventLogHarness> {
  const names = new Map<EventLogProcess, string>();
  return {
    async open() {
      const name = `process-${names.size}`;
      const log = openLog({}, name);
      names.set(log, name);
      return log;
    },
    async crash(process) {
      // Stopping begins before the connections go, so that it does not come back as a new member.
      void process.stop();
      await admin.query(
        'select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1',
        [names.get(process)],
      );
    },
  };
}

describe('the log on PostgreSQL', () => {
  let log: OpenLog;

  beforeEach(async () => {
    await admin.query('truncate topics, events, consumer_groups, dead_letters');
    opened = [];
    log = openLog();
  });

  afterEach(() => Promise.all(opened.map((each) => each.stop())));

  it('drains: each group reads what is there, and what those before it add meanwhile', async () => {
    const last = collector();
    await log.subscribe({
      topic: 'first',
      group: 'g',
      handle: (events) =>
        log.append(
          'second',
          events.map(({ payload }) => ({ key: 'k', payload })),
        ),
    });
    await log.subscribe({ topic: 'second', group: 'g', handle: last.handle });
    await log.append('first', [event('k', 'one'), event('k', 'two')]);
    expect(await log.drain(10_000)).toBe(true);
    expect(textsOf(await last.atLeast(0))).toEqual(['one', 'two']);
  });

  it('gives a drain up when a group does not get on', async () => {
    let release: () => void = ignore;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await log.subscribe({ topic: 'stuck', group: 'g', handle: () => held });
    await log.append('stuck', [event('k', 'one')]);
    expect(await log.drain(50)).toBe(false);
    release();
  });

  const positions = async (topic: string) =>
    (
      await admin.query<{ position: bigint }>('select position from events where topic = $1 order by 1', [
        topic,
      ])
    ).rows.map((row) => row.position);

  it('has the events of a transaction if and only if it commits, and leaves no gap when it does not', async () => {
    await inTransaction(admin, (client) => log.appending('t', [event('a', 'kept')]).write(client));
    const undone = inTransaction(admin, async (client) => {
      await log.appending('t', [event('a', 'undone')]).write(client);
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    await log.append('t', [event('a', 'next')]);
    expect(await positions('t')).toEqual([1n, 2n]);
  });

  it('keeps later appends waiting for an open transaction, so that no reader skips its events', async () => {
    const seen = collector();
    await log.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    let later: Promise<void> | undefined;
    await inTransaction(admin, async (client) => {
      await log.appending('t', [event('a', 'first')]).write(client);
      later = log.append('t', [event('a', 'second')]);
      const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%event_log.topics%'`;
      while ((await admin.query(waits)).rowCount === 0);
    });
    await later;
    expect(textsOf(await seen.atLeast(2))).toEqual(['first', 'second']);
  });

  it('goes on when its connections are killed, without being asked to', async () => {
    const seen = collector();
    const own = openLog({}, 'victim');
    await own.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    for (let round = 1; round <= 3; round += 1) {
      await log.append('t', [event('a', `${round}`)]);
      await seen.distinct(round);
      await admin.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'victim'`,
      );
    }
    await log.append('t', [event('a', 'last')]);
    // Killed between handling and recording, an event comes again.
    const texts = textsOf(await seen.distinct(4));
    expect([...new Set(texts)]).toEqual(['1', '2', '3', 'last']);
  });

  describe('what this process wrote', () => {
    /** A row once the group has recorded the first event. */
    const MOVED = `select from consumer_groups where topic = 't' and position = 1`;

    /** A subscription whose handler waits in its first batch until it is let go. */
    async function subscribeHeld(of: OpenLog) {
      const seen = collector();
      let letGo: () => void = ignore;
      const held = new Promise<void>((resolve) => (letGo = resolve));
      const handle = async (events: Parameters<typeof seen.handle>[0]) => {
        await seen.handle(events);
        await held;
      };
      await of.subscribe({ topic: 't', group: 'g', handle });
      await of.append('t', [event('a', 'first')]);
      await seen.atLeast(1);
      return { seen, letGo };
    }

    it('comes to its consumer without being read back', async () => {
      const { seen, letGo } = await subscribeHeld(log);
      await log.append('t', [event('a', 'appended'), event('b', 'beside it')]);
      const append = log.appending('t', [event('a', 'in a transaction')]);
      await inTransaction(admin, (client) => append.write(client));
      append.committed();
      await admin.query(`update events set payload = 'read back' where position > 1`);
      letGo();
      const texts = ['first', 'appended', 'beside it', 'in a transaction'];
      expect(textsOf(await seen.atLeast(4))).toEqual(texts);
      expect(await log.drain(10_000)).toBe(true);
      expect(textsOf(await seen.atLeast(4))).toEqual(texts);
    });

    it('is for nobody before it is committed', async () => {
      const { seen, letGo } = await subscribeHeld(log);
      const undone = inTransaction(admin, async (client) => {
        await log.appending('t', [event('a', 'undone')]).write(client);
        letGo();
        while ((await client.query(MOVED)).rowCount === 0);
        throw new Error('no');
      });
      await expect(undone).rejects.toThrow('no');
      await log.append('t', [event('a', 'next')]);
      expect(textsOf(await seen.atLeast(2))).toEqual(['first', 'next']);
    });

    it('is read back where there is more of it than may lie about', async () => {
      const small = openLog({ maxBytesAtHand: 1 });
      const { seen, letGo } = await subscribeHeld(small);
      for (const text of ['second', 'third', 'fourth']) await small.append('t', [event('a', text)]);
      letGo();
      expect(textsOf(await seen.atLeast(4))).toEqual(['first', 'second', 'third', 'fourth']);
    });

    it('stays in its order among what others wrote', async () => {
      const other = openLog();
      const seen = collector();
      await log.subscribe({ topic: 't', group: 'g', maxBatchSize: 3, handle: seen.handle });
      const write = async (by: OpenLog, name: string) => {
        for (let number = 0; number < 50; number += 1)
          await by.append('t', [event('a', `${name} ${number}`), event('b', `${name} ${number}`)]);
      };
      await Promise.all([write(log, 'own'), write(other, 'foreign'), write(log, 'own too')]);
      const positions = (await seen.atLeast(300)).map(({ position }) => position);
      expect(positions).toEqual(Array.from({ length: 300 }, (_, index) => BigInt(index + 1)));
    });

    it('is no longer for a consumer that lost its charge, also while it lets events gather', async () => {
      const seen = collector();
      const victim = openLog({ gatherMs: 500 }, 'victim');
      await victim.subscribe({ topic: 't', group: 'g', handle: seen.handle });
      await victim.append('t', [event('a', 'first')]);
      while ((await admin.query(MOVED)).rowCount === 0);
      await log.subscribe({ topic: 't', group: 'g', handle: seen.handle });
      await admin.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'victim'`,
      );
      await log.append('t', [event('a', 'second')]);
      expect(textsOf(await seen.atLeast(2))).toEqual(['first', 'second']);
      await victim.append('t', [event('a', 'third')]);
      // It has come back, and asks for the lock that another has.
      const asks = `select from pg_stat_activity where application_name = 'victim' and query like '%try_advisory%'`;
      while ((await admin.query(asks)).rowCount === 0);
      expect(textsOf(await seen.atLeast(3))).toEqual(['first', 'second', 'third']);
    });

    it('is announced only where a group of the topic has its member elsewhere', async () => {
      const here = collector();
      const there = collector();
      const other = openLog();
      await log.subscribe({ topic: 'own', group: 'g', handle: here.handle });
      await log.subscribe({ topic: 'shared', group: 'g', handle: here.handle });
      await other.subscribe({ topic: 'shared', group: 'elsewhere', handle: there.handle });
      await log.append('own', [event('a', 'one')]);
      await log.append('shared', [event('a', 'two')]);
      await there.atLeast(1);
      await here.atLeast(2);
      // Begins to listen when all of them are in charge.
      const heard: string[] = [];
      const ear = await admin.connect();
      ear.on('notification', ({ payload }) => heard.push(payload ?? ''));
      await ear.query('listen event_log');
      await log.append('own', [event('a', 'three')]);
      await log.append('shared', [event('a', 'four')]);
      await other.append('own', [event('a', 'five')]);
      // What was announced before it is told before its answer.
      await ear.query('select');
      ear.release(true);
      expect(heard).toEqual(['shared', 'own']);
      expect(textsOf(await here.atLeast(5)).sort()).toEqual(['five', 'four', 'one', 'three', 'two']);
      expect(textsOf(await there.atLeast(2))).toEqual(['two', 'four']);
    });
  });

  it('finds events by looking when nobody announced them', async () => {
    const polling = openLog({ pollIntervalMs: 10 });
    const seen = collector();
    await log.append('t', [event('a', 'announced')]);
    await polling.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    await seen.atLeast(1);
    await admin.query(`
      with t as (update topics set last_position = 2 where topic = 't')
      insert into events values ('t', 2, 'a', 'quiet', '{}', now())`);
    expect(textsOf(await seen.atLeast(2))).toEqual(['announced', 'quiet']);
  });

  it('refuses what it could not store, without harm to the events beside it', async () => {
    const small = openLog({ maxPayloadBytes: 10 });
    const results = await Promise.allSettled([
      small.append('t', [event('a', 'fine')]),
      small.append('t', [event('a', 'more than ten bytes')]),
      small.append('t', [event('nul\0', 'x')]),
      small.append('t', [{ ...event('a', 'x'), headers: { half: '\ud800' } }]),
      small.append('t', [event('a', 'fine too')]),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(await positions('t')).toHaveLength(2);
  });

  it('refuses appends beyond its queue instead of eating memory', async () => {
    const tight = openLog({ maxQueuedAppends: 5, maxAppendEvents: 1 });
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => tight.append('t', [event('a', `${index}`)])),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(await positions('t')).toHaveLength(20 - refused.length);
  });

  it('keeps batches small in bytes, and still delivers one event that is larger than a batch may be', async () => {
    const narrow = openLog({ maxBatchBytes: 100 });
    const sizes: number[] = [];
    const seen = collector();
    const payloads = [60, 30, 30, 500, 10].map((length) => event('a', 'x'.repeat(length)));
    await narrow.append('t', payloads);
    await narrow.subscribe({
      topic: 't',
      group: 'g',
      handle: async (events) => {
        sizes.push(events.length);
        await seen.handle(events);
      },
    });
    await seen.atLeast(5);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(3);
  });

  it('delivers what comes after a silence at once, and lets what comes then gather', async () => {
    // Long enough that two appends fit in on any machine.
    const gathering = openLog({ gatherMs: 1_000 });
    const sizes: number[] = [];
    const seen = collector();
    await gathering.subscribe({
      topic: 't',
      group: 'g',
      handle: async (events) => {
        sizes.push(events.length);
        await seen.handle(events);
      },
    });
    for (const count of [1, 2, 3]) {
      await gathering.append('t', numbered(1));
      if (count === 1) await seen.atLeast(1);
    }
    await seen.atLeast(3);
    expect(sizes).toEqual([1, 2]);
  });

  it('does not let a backlog gather, and stops without waiting', async () => {
    const backlogged = openLog({ gatherMs: 600_000 });
    await backlogged.append('t', numbered(10));
    const seen = collector();
    await backlogged.subscribe({ topic: 't', group: 'g', maxBatchSize: 3, handle: seen.handle });
    await seen.atLeast(10);
    await backlogged.stop();
  });

  it('trims only events that are old and that every group has passed', async () => {
    const seen = collector();
    await log.append('t', numbered(3));
    await log.append('unread', numbered(1));
    const subscription = await log.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    await seen.atLeast(3);
    await subscription.stop();
    expect(await log.trim()).toEqual({ days: 0, events: 0 });
    clock.advance(8 * 24 * 60 * 60 * 1000);
    await log.append('t', numbered(1));
    await admin.query(`insert into consumer_groups values ('t', 'slow', 2)`);
    expect(await log.trim()).toEqual({ days: 0, events: 2 });
    expect(await positions('t')).toEqual([3n, 4n]);
    expect(await positions('unread')).toEqual([1n]);
  });

  describe('dead letters', () => {
    const letter = (position: bigint) => ({ topic: 't', group: 'g', position });
    let refused: string[];
    let failure: Error;
    let failures: number;
    let looking: OpenLog;

    beforeEach(async () => {
      refused = ['key-1', 'key-2'];
      failure = new Error('bad');
      failures = 0;
      looking = openLog({ pollIntervalMs: 5 });
      await looking.append('t', numbered(4));
      await looking.subscribe({
        topic: 't',
        group: 'g',
        handle: async (events) => {
          if (!events.some(({ key }) => refused.includes(key))) return;
          failures += 1;
          throw failure;
        },
      });
      await gaugeIs(2);
    });

    const gauge = async (of: OpenLog) =>
      (await of.metrics.getSingleMetric('gateway_events_dead_letters')?.get())?.values;

    async function gaugeIs(value: number): Promise<void> {
      while ((await gauge(looking))?.[0]?.value !== value)
        await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await gauge(looking)).toEqual([{ labels: { topic: 't', group: 'g' }, value }]);
    }

    it('are counted while they wait, until they are discarded or handled after all', async () => {
      await log.deadLetters.discard(letter(2n), 'of no use');
      await gaugeIs(1);
      await log.deadLetters.redeliver(letter(3n));
      await gaugeIs(1);
      refused = [];
      await log.deadLetters.redeliver(letter(3n));
      await gaugeIs(0);
      expect(await looking.metrics.metrics()).toContain(
        'gateway_events_redelivered_total{topic="t",group="g"} 1',
      );
    });

    it('are counted while they are redelivered, until that goes well', async () => {
      failure = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      await log.deadLetters.redeliver(letter(2n));
      await log.deadLetters.redeliver(letter(3n));
      // Two rounds of both: the first has set the gauge.
      for (const before = failures; failures < before + 4;)
        await new Promise((resolve) => setTimeout(resolve, 5));
      const { redelivering } = await log.deadLetters.count(letter(2n));
      expect([redelivering, (await gauge(looking))?.[0]?.value]).toEqual([2, 2]);
      refused = [];
      await gaugeIs(0);
    });

    it('are counted by the member in charge alone', async () => {
      const standby = openLog({ pollIntervalMs: 5 });
      await standby.subscribe({ topic: 't', group: 'g', handle: async () => undefined });
      expect(await gauge(standby)).toEqual([]);
      await looking.stop();
      expect(await gauge(looking)).toEqual([]);
    });

    it('that were discarded are forgotten after their retention, and no others', async () => {
      await log.deadLetters.discard(letter(2n), 'of no use');
      await log.trim();
      expect(await log.deadLetters.read(letter(2n))).toBeDefined();
      clock.advance(31 * 24 * 60 * 60 * 1000);
      await log.trim();
      expect(await log.deadLetters.read(letter(2n))).toBeUndefined();
      expect(await log.deadLetters.read(letter(3n))).toBeDefined();
    });
  });

  it('counts what it appended, handled, retried and buried', async () => {
    await log.append('t', numbered(3));
    const seen = collector();
    await log.subscribe({
      topic: 't',
      group: 'g',
      handle: async (events) => {
        if (events.some(({ key }) => key === 'key-1')) throw new Error('bad');
        await seen.handle(events);
      },
    });
    await seen.atLeast(2);
    await log.stop();
    const text = await log.metrics.metrics();
    expect(text).toContain('gateway_events_appended_total{topic="t"} 3');
    expect(text).toContain('gateway_events_handled_total{topic="t",group="g"} 2');
    expect(text).toContain('gateway_events_dead_lettered_total{topic="t",group="g"} 1');
    expect(text).toContain('gateway_events_retried_total{topic="t",group="g"} 4');
  });
});
