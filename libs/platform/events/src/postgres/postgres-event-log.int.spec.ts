import { createAuditEntry } from '@gateway/test-support';
import { inTransaction } from '@gateway/database';
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
import { createEventLogFixture, type EventLogFixture, type OpenLog } from './testing/event-log-fixture';

const ignore = () => undefined;

let fixture: EventLogFixture;

beforeAll(async () => {
  fixture = await createEventLogFixture();
});

afterAll(() => fixture.close());

describeEventLog('the log on PostgreSQL', createHarness);
describeDeadLetters('the log on PostgreSQL', createHarness);

async function createHarness(): Promise<EventLogHarness> {
  const names = new Map<EventLogProcess, string>();
  return {
    async open() {
      const name = `process-${names.size}`;
      const log = fixture.openLog({}, name);
      names.set(log, name);
      return log;
    },
    async crash(process) {
      // Stops first, so that it does not rejoin as a new member after the disconnect.
      void process.stop();
      await fixture.terminateConnections(names.get(process) ?? '');
    },
  };
}

describe('the log on PostgreSQL', () => {
  let log: OpenLog;

  beforeEach(async () => {
    await fixture.reset();
    log = fixture.openLog();
  });

  it('drains: each group reads all events, including those that earlier groups append', async () => {
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

  it('ends a drain after its timeout when a group is blocked', async () => {
    let release: () => void = ignore;
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    await log.subscribe({ topic: 'blocked', group: 'g', handle: () => blocked });
    await log.append('blocked', [event('k', 'one')]);
    expect(await log.drain(50)).toBe(false);
    release();
  });

  const positions = async (topic: string) =>
    (
      await fixture.admin.query<{ position: bigint }>(
        'select position from events where topic = $1 order by 1',
        [topic],
      )
    ).rows.map((row) => row.position);

  it('stores the events of a transaction if and only if it commits, without gaps after a rollback', async () => {
    await inTransaction(fixture.admin, (client) =>
      log.appending('t', [event('a', 'committed')]).write(client),
    );
    const rolledBack = inTransaction(fixture.admin, async (client) => {
      await log.appending('t', [event('a', 'rolled back')]).write(client);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await log.append('t', [event('a', 'next')]);
    expect(await positions('t')).toEqual([1n, 2n]);
  });

  it('blocks later appends until an open transaction ends, so that no consumer skips its events', async () => {
    const seen = collector();
    await log.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    let later: Promise<void> | undefined;
    await inTransaction(fixture.admin, async (client) => {
      await log.appending('t', [event('a', 'first')]).write(client);
      later = log.append('t', [event('a', 'second')]);
      const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%event_log.topics%'`;
      while ((await fixture.admin.query(waits)).rowCount === 0);
    });
    await later;
    expect(textsOf(await seen.atLeast(2))).toEqual(['first', 'second']);
  });

  it('wakes a new group whose first read precedes the commit of an append that did not see the group', async () => {
    const seen = collector();
    await inTransaction(fixture.admin, async (client) => {
      await log.appending('t', [event('a', 'in progress')]).write(client);
      await fixture.openLog({}, 'newcomer').subscribe({ topic: 't', group: 'g', handle: seen.handle });
      const hasRead = `
        select 1 from pg_stat_activity
        where application_name = 'newcomer' and state = 'idle' and query like '%event_log.events%'`;
      while ((await fixture.admin.query(hasRead)).rowCount === 0);
    });
    expect(textsOf(await seen.atLeast(1))).toEqual(['in progress']);
  });

  it('recovers automatically when its connections are terminated', async () => {
    const seen = collector();
    const own = fixture.openLog({}, 'victim');
    await own.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    for (let round = 1; round <= 3; round += 1) {
      await log.append('t', [event('a', `${round}`)]);
      await seen.distinct(round);
      await fixture.terminateConnections('victim');
    }
    await log.append('t', [event('a', 'last')]);
    // An event is delivered again if the connection is lost between handling and commit.
    const texts = textsOf(await seen.distinct(4));
    expect([...new Set(texts)]).toEqual(['1', '2', '3', 'last']);
  });

  it('finds events by polling without a notification', async () => {
    const polling = fixture.openLog({ pollIntervalMs: 10 });
    const seen = collector();
    await log.append('t', [event('a', 'announced')]);
    await polling.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    await seen.atLeast(1);
    await fixture.admin.query(`
      with t as (update topics set last_position = 2 where topic = 't')
      insert into events values ('t', 2, 'a', 'quiet', '{}', now())`);
    expect(textsOf(await seen.atLeast(2))).toEqual(['announced', 'quiet']);
  });

  it('refuses invalid events without affecting concurrent appends', async () => {
    const small = fixture.openLog({ maxPayloadBytes: 10 });
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

  it('refuses appends when its queue is full', async () => {
    const tight = fixture.openLog({ maxQueuedAppends: 5, maxAppendEvents: 1 });
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => tight.append('t', [event('a', `${index}`)])),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(await positions('t')).toHaveLength(20 - refused.length);
  });

  it('limits the bytes of a batch, and still delivers an event above the limit', async () => {
    const narrow = fixture.openLog({ maxBatchBytes: 100 });
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

  it('delivers an event after an idle period immediately, and batches the following ones', async () => {
    // Long enough for two appends on a slow machine.
    const lingering = fixture.openLog({ lingerMs: 1_000 });
    const sizes: number[] = [];
    const seen = collector();
    await lingering.subscribe({
      topic: 't',
      group: 'g',
      handle: async (events) => {
        sizes.push(events.length);
        await seen.handle(events);
      },
    });
    for (const count of [1, 2, 3]) {
      await lingering.append('t', numbered(1));
      if (count === 1) await seen.atLeast(1);
    }
    await seen.atLeast(3);
    expect(sizes).toEqual([1, 2]);
  });

  it('does not linger with a backlog, and stops without waiting', async () => {
    const backlogged = fixture.openLog({ lingerMs: 600_000 });
    await backlogged.append('t', numbered(10));
    const seen = collector();
    await backlogged.subscribe({ topic: 't', group: 'g', maxBatchSize: 3, handle: seen.handle });
    await seen.atLeast(10);
    await backlogged.stop();
  });

  it('deletes only events that are past their retention and that every group has passed', async () => {
    const seen = collector();
    await log.append('t', numbered(3));
    await log.append('unread', numbered(1));
    const subscription = await log.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    await seen.atLeast(3);
    await subscription.stop();
    expect(await log.deleteExpired()).toEqual({ days: 0, events: 0 });
    fixture.clock.advance(8 * 24 * 60 * 60 * 1000);
    await log.append('t', numbered(1));
    await fixture.admin.query(`insert into consumer_groups values ('t', 'slow', 2)`);
    expect(await log.deleteExpired()).toEqual({ days: 0, events: 2 });
    expect(await positions('t')).toEqual([3n, 4n]);
    expect(await positions('unread')).toEqual([1n]);
  });

  describe('dead letters', () => {
    const deadLetter = (position: bigint) => ({ topic: 't', group: 'g', position });
    let refused: string[];
    let failure: Error;
    let failures: number;
    let consumer: OpenLog;

    beforeEach(async () => {
      refused = ['key-1', 'key-2'];
      failure = new Error('bad');
      failures = 0;
      consumer = fixture.openLog({ pollIntervalMs: 5 });
      await consumer.append('t', numbered(4));
      await consumer.subscribe({
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
      while ((await gauge(consumer))?.[0]?.value !== value)
        await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await gauge(consumer)).toEqual([{ labels: { topic: 't', group: 'g' }, value }]);
    }

    it('are counted while they wait, until they are discarded or handled', async () => {
      await log.deadLetters.discard(deadLetter(2n), 'not needed', createAuditEntry());
      await gaugeIs(1);
      await log.deadLetters.redeliver(deadLetter(3n), createAuditEntry());
      await gaugeIs(1);
      refused = [];
      await log.deadLetters.redeliver(deadLetter(3n), createAuditEntry());
      await gaugeIs(0);
      expect(await consumer.metrics.metrics()).toContain(
        'gateway_events_redelivered_total{topic="t",group="g"} 1',
      );
    });

    it('are counted while they are redelivered, until that succeeds', async () => {
      failure = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      await log.deadLetters.redeliver(deadLetter(2n), createAuditEntry());
      await log.deadLetters.redeliver(deadLetter(3n), createAuditEntry());
      // Two rounds of both: the first has set the gauge.
      for (const before = failures; failures < before + 4;)
        await new Promise((resolve) => setTimeout(resolve, 5));
      const { redelivering } = await log.deadLetters.count(deadLetter(2n));
      expect([redelivering, (await gauge(consumer))?.[0]?.value]).toEqual([2, 2]);
      refused = [];
      await gaugeIs(0);
    });

    it('are counted only by the leader', async () => {
      const standby = fixture.openLog({ pollIntervalMs: 5 });
      await standby.subscribe({ topic: 't', group: 'g', handle: async () => undefined });
      expect(await gauge(standby)).toEqual([]);
      await consumer.stop();
      expect(await gauge(consumer)).toEqual([]);
    });

    it('are deleted after their retention only if they were discarded', async () => {
      await log.deadLetters.discard(deadLetter(2n), 'not needed', createAuditEntry());
      await log.deleteExpired();
      expect(await log.deadLetters.read(deadLetter(2n))).toBeDefined();
      fixture.clock.advance(31 * 24 * 60 * 60 * 1000);
      await log.deleteExpired();
      expect(await log.deadLetters.read(deadLetter(2n))).toBeUndefined();
      expect(await log.deadLetters.read(deadLetter(3n))).toBeDefined();
    });
  });

  it('counts appended, handled, retried and dead-lettered events', async () => {
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
