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
      // Stopping begins before the connections go, so that it does not come back as a new member.
      void process.stop();
      await fixture.cutOff(names.get(process) ?? '');
    },
  };
}

describe('the log on PostgreSQL', () => {
  let log: OpenLog;

  beforeEach(async () => {
    await fixture.reset();
    log = fixture.openLog();
  });

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
      await fixture.admin.query<{ position: bigint }>(
        'select position from events where topic = $1 order by 1',
        [topic],
      )
    ).rows.map((row) => row.position);

  it('has the events of a transaction if and only if it commits, and leaves no gap when it does not', async () => {
    await inTransaction(fixture.admin, (client) => log.appending('t', [event('a', 'kept')]).write(client));
    const undone = inTransaction(fixture.admin, async (client) => {
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
    await inTransaction(fixture.admin, async (client) => {
      await log.appending('t', [event('a', 'first')]).write(client);
      later = log.append('t', [event('a', 'second')]);
      const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%event_log.topics%'`;
      while ((await fixture.admin.query(waits)).rowCount === 0);
    });
    await later;
    expect(textsOf(await seen.atLeast(2))).toEqual(['first', 'second']);
  });

  it('goes on when its connections are killed, without being asked to', async () => {
    const seen = collector();
    const own = fixture.openLog({}, 'victim');
    await own.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    for (let round = 1; round <= 3; round += 1) {
      await log.append('t', [event('a', `${round}`)]);
      await seen.distinct(round);
      await fixture.cutOff('victim');
    }
    await log.append('t', [event('a', 'last')]);
    // Killed between handling and recording, an event comes again.
    const texts = textsOf(await seen.distinct(4));
    expect([...new Set(texts)]).toEqual(['1', '2', '3', 'last']);
  });

  it('finds events by looking when nobody announced them', async () => {
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

  it('refuses what it could not store, without harm to the events beside it', async () => {
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

  it('refuses appends beyond its queue instead of eating memory', async () => {
    const tight = fixture.openLog({ maxQueuedAppends: 5, maxAppendEvents: 1 });
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => tight.append('t', [event('a', `${index}`)])),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(await positions('t')).toHaveLength(20 - refused.length);
  });

  it('keeps batches small in bytes, and still delivers one event that is larger than a batch may be', async () => {
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

  it('delivers what comes after a silence at once, and lets what comes then gather', async () => {
    // Long enough that two appends fit in on any machine.
    const gathering = fixture.openLog({ gatherMs: 1_000 });
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
    const backlogged = fixture.openLog({ gatherMs: 600_000 });
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
    fixture.clock.advance(8 * 24 * 60 * 60 * 1000);
    await log.append('t', numbered(1));
    await fixture.admin.query(`insert into consumer_groups values ('t', 'slow', 2)`);
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
      looking = fixture.openLog({ pollIntervalMs: 5 });
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
      const standby = fixture.openLog({ pollIntervalMs: 5 });
      await standby.subscribe({ topic: 't', group: 'g', handle: async () => undefined });
      expect(await gauge(standby)).toEqual([]);
      await looking.stop();
      expect(await gauge(looking)).toEqual([]);
    });

    it('that were discarded are forgotten after their retention, and no others', async () => {
      await log.deadLetters.discard(letter(2n), 'of no use');
      await log.trim();
      expect(await log.deadLetters.read(letter(2n))).toBeDefined();
      fixture.clock.advance(31 * 24 * 60 * 60 * 1000);
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
