import { announceSeed, eventually, seededRandom } from '@gateway/test-support';
import type { Registry } from 'prom-client';
import type { DeadLetters } from './dead-letters';
import {
  UnprocessableEventsError,
  type EventAppender,
  type EventLag,
  type EventSubscriber,
  type LoggedEvent,
  type NewEvent,
  type LagWatcher,
} from './event-log';

/** The log as seen by one process. */
export interface EventLogProcess extends EventAppender, EventSubscriber, EventLag, LagWatcher {
  readonly deadLetters: DeadLetters;
  readonly metrics: Registry;
  stop(): Promise<void>;
}

export interface EventLogHarness {
  /** Opens the same log like another process. */
  open(): Promise<EventLogProcess>;
  /** Cuts a process's connections so that it cannot commit anything. */
  crash(process: EventLogProcess): Promise<void>;
}

/** The contract suite of every event log. */
export function describeEventLog(name: string, createHarness: () => Promise<EventLogHarness>): void {
  describe(`${name} fulfills the contract of an event log`, () => {
    let harness: EventLogHarness;
    let log: EventLogProcess;
    let processes: EventLogProcess[];
    let topicNumber = 0;
    let topic: string;

    beforeAll(async () => {
      harness = await createHarness();
    });

    beforeEach(async () => {
      topicNumber += 1;
      topic = `topic-${topicNumber}`;
      processes = [];
      log = await open();
    });

    afterEach(() => Promise.all(processes.map((process) => process.stop())));

    async function open(): Promise<EventLogProcess> {
      const process = await harness.open();
      processes.push(process);
      return process;
    }

    async function waitingDeadLetters() {
      const { deadLetters } = await log.deadLetters.list({ topic, group: 'g', state: 'waiting', limit: 100 });
      return deadLetters;
    }

    /** Waits for this lag; a broker that has just started may reject the query at first. */
    const untilLag = (group: string, count: number) =>
      eventually(`a lag of ${count} events for ${group}`, async () => {
        const counted = await log.countWaiting({ topic, group }).catch(() => undefined);
        return counted === count || undefined;
      });

    it('counts the events that a group has not handled yet, in all processes', async () => {
      await log.append(topic, [event('a', '1'), event('b', '2'), event('a', '3')]);
      await untilLag('g', 3);
      const other = await open();
      const seen = collector();
      await other.subscribe({ topic, group: 'g', handle: seen.handle });
      await untilLag('g', 0);
      await untilLag('another', 3);
    });

    /** Waits until the process exposes this lag; undefined for no sample. */
    const untilExposed = (group: string, count: number | undefined) =>
      eventually(`the metric of ${group} to be ${count}`, async () => {
        const metric = await log.metrics.getSingleMetric('gateway_events_lag')?.get();
        const sample = metric?.values.find(({ labels }) => labels.topic === topic && labels.group === group);
        return sample?.value === count || undefined;
      });

    it('exposes the lag of a group while its only member is blocked', async () => {
      let release: () => void = () => undefined;
      const blocked = new Promise<void>((resolve) => (release = resolve));
      let started: () => void = () => undefined;
      const hasStarted = new Promise<void>((resolve) => (started = resolve));
      const handle = async () => {
        started();
        await blocked;
      };
      await log.subscribe({ topic, group: 'g', handle });
      await log.append(topic, numbered(2));
      await hasStarted;
      await log.append(topic, numbered(3));
      await untilExposed('g', 5);
      release();
      await untilExposed('g', 0);
    });

    it('exposes the lag of a group without members', async () => {
      await log.append(topic, numbered(2));
      log.watchLag({ topic, group: 'absent' });
      await untilExposed('absent', 2);
      await log.append(topic, numbered(1));
      await untilExposed('absent', 3);
    });

    it('removes the metric of a group when its lag is unknown', async () => {
      await log.append(topic, numbered(2));
      log.watchLag({ topic, group: 'g' });
      await untilExposed('g', 2);
      await harness.crash(log);
      await untilExposed('g', undefined);
    });

    it('delivers every event with its key, payload, headers and a unique position', async () => {
      const seen = collector();
      await log.append(topic, [
        { key: 'a', payload: Buffer.from([0, 255, 10]), headers: { traceparent: '00-ü' } },
        event('b', 'second'),
      ]);
      await log.subscribe({ topic, group: 'g', handle: seen.handle });
      const events = [...(await seen.atLeast(2))].sort((a, b) => (a.key < b.key ? -1 : 1));
      const [first, second] = events;
      expect(first).toMatchObject({ topic, key: 'a', headers: { traceparent: '00-ü' } });
      expect(Buffer.from(first?.payload ?? [])).toEqual(Buffer.from([0, 255, 10]));
      expect(second).toMatchObject({ key: 'b', headers: {} });
      expect(second?.position).not.toBe(first?.position);
    });

    it('delivers payloads of mixed lengths unchanged', async () => {
      const payloads = [0, 1, 255, 256, 0, 5_000, 3].map((length, at) => Buffer.alloc(length, at + 250));
      await log.append(
        topic,
        payloads.map((payload) => ({ key: 'a', payload })),
      );
      const seen = collector();
      await log.subscribe({ topic, group: 'g', handle: seen.handle });
      const events = await seen.atLeast(payloads.length);
      expect(events.map(({ payload }) => Buffer.from(payload))).toEqual(payloads);
    });

    it('wakes a consumer that is waiting', async () => {
      const seen = collector();
      await log.subscribe({ topic, group: 'g', handle: seen.handle });
      // While its group is being registered, the consumer does not wait yet.
      await log.append(topic, [event('a', '0')]);
      await seen.atLeast(1);
      for (let round = 1; round <= 3; round += 1) {
        await (await open()).append(topic, [event('a', `${round}`)]);
        await seen.atLeast(round + 1);
      }
    });

    it('delivers every event to each group; a new group starts with the oldest event', async () => {
      const [early, late] = [collector(), collector()];
      await log.subscribe({ topic, group: 'early', handle: early.handle });
      await log.append(topic, numbered(20));
      await early.atLeast(20);
      await log.subscribe({ topic, group: 'late', handle: late.handle });
      expect(sortedTextsOf(await late.atLeast(20))).toEqual(sortedTextsOf(await early.atLeast(20)));
    });

    it('never delivers more than the batch size', async () => {
      const sizes: number[] = [];
      const seen = collector();
      await log.append(topic, numbered(23));
      await log.subscribe({
        topic,
        group: 'g',
        maxBatchSize: 5,
        handle: async (events) => {
          sizes.push(events.length);
          await seen.handle(events);
        },
      });
      await seen.atLeast(23);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(5);
    });

    it('resumes where the group stopped', async () => {
      const [first, second] = [collector(), collector()];
      const subscription = await log.subscribe({ topic, group: 'g', handle: first.handle });
      await log.append(topic, numbered(5));
      await first.atLeast(5);
      // Without a commit before the stop, the events would be delivered again.
      await untilLag('g', 0);
      await subscription.stop();
      await log.append(topic, [event('a', 'after')]);
      await (await open()).subscribe({ topic, group: 'g', handle: second.handle });
      expect(textsOf(await second.atLeast(1))).toEqual(['after']);
    });

    it('delivers events again that a member had handled but not committed when it crashed', async () => {
      const crashing = await open();
      const handledOnce = collector();
      let crashed: () => void = () => undefined;
      const hasCrashed = new Promise<void>((resolve) => (crashed = resolve));
      await log.append(topic, numbered(3));
      await crashing.subscribe({
        topic,
        group: 'g',
        handle: async (events) => {
          await handledOnce.handle(events);
          await harness.crash(crashing);
          crashed();
        },
      });
      await hasCrashed;
      const redelivered = collector();
      await log.subscribe({ topic, group: 'g', handle: redelivered.handle });
      expect(sortedTextsOf(await redelivered.atLeast(3))).toEqual(['0', '1', '2']);
    });

    it('has one member of a group handle a key at a time, in order, across processes', async () => {
      const seen = collector();
      const keys = ['a', 'b', 'c', 'd'];
      const working = new Map<string, number>();
      const clashes: string[] = [];
      const handle = async (events: readonly LoggedEvent[]) => {
        const held = new Set(events.map(({ key }) => key));
        for (const key of held) {
          working.set(key, (working.get(key) ?? 0) + 1);
          if ((working.get(key) ?? 0) > 1) clashes.push(key);
        }
        await new Promise((resolve) => setImmediate(resolve));
        for (const key of held) working.set(key, (working.get(key) ?? 0) - 1);
        await seen.handle(events);
      };
      const members = [log, await open(), await open()];
      for (const member of members) await member.subscribe({ topic, group: 'g', handle, maxBatchSize: 3 });
      for (let round = 0; round < 10; round += 1) {
        await log.append(
          topic,
          keys.map((key) => event(key, String(round).padStart(2, '0'))),
        );
      }
      const events = await seen.atLeast(10 * keys.length);
      expect(clashes).toEqual([]);
      for (const key of keys) {
        const texts = [...new Set(textsOf(events.filter((each) => each.key === key)))];
        expect(texts).toEqual([...texts].sort());
      }
    });

    it('fails over to another member', async () => {
      const [first, second] = [collector(), collector()];
      const active = await log.subscribe({ topic, group: 'g', handle: first.handle });
      await log.append(topic, [event('a', 'one')]);
      await first.atLeast(1);
      await (await open()).subscribe({ topic, group: 'g', handle: second.handle });
      await active.stop();
      await log.append(topic, [event('a', 'two')]);
      expect(textsOf(await second.atLeast(1))).toEqual(['two']);
    });

    it('dead-letters unprocessable events with their reason, and delivers the rest of the batch', async () => {
      const seen = collector();
      await log.append(topic, numbered(6));
      await log.subscribe({
        topic,
        group: 'g',
        handle: async (events) => {
          const bad = events.filter(({ payload }) => ['1', '4'].includes(text(payload)));
          if (bad.length > 0) {
            throw new UnprocessableEventsError(bad.map((event) => ({ event, reason: 'not a message' })));
          }
          await seen.handle(events);
        },
      });
      expect(sortedTextsOf(await seen.atLeast(4))).toEqual(['0', '2', '3', '5']);
      const deadLetters = await eventually('both dead letters', async () => {
        const found = await waitingDeadLetters();
        return found.length === 2 ? found : undefined;
      });
      expect(deadLetters).toEqual(
        expect.arrayContaining(
          ['key-1', 'key-4'].map((key) =>
            expect.objectContaining({ key, reason: 'not a message', attempts: 1 }),
          ),
        ),
      );
    });

    it('isolates and dead-letters an event that always fails, and is not blocked', async () => {
      const seen = collector();
      let attempts = 0;
      await log.append(topic, numbered(5));
      await log.subscribe({
        topic,
        group: 'g',
        handle: async (events) => {
          if (events.some(({ payload }) => text(payload) === '2')) {
            if (events.length === 1) attempts += 1;
            throw new TypeError('cannot read it');
          }
          await seen.handle(events);
        },
      });
      expect(sortedTextsOf(await seen.atLeast(4))).toEqual(['0', '1', '3', '4']);
      const deadLetters = await eventually('the dead letter', async () => {
        const found = await waitingDeadLetters();
        return found.length === 1 ? found : undefined;
      });
      expect(attempts).toBeGreaterThan(1);
      expect(deadLetters).toMatchObject([{ key: 'key-2', reason: 'TypeError: cannot read it', attempts }]);
    });

    it('retries temporary errors without dead letters', async () => {
      const seen = collector();
      let failuresLeft = 12;
      await log.append(topic, numbered(3));
      await log.subscribe({
        topic,
        group: 'g',
        handle: async (events) => {
          failuresLeft -= 1;
          if (failuresLeft >= 0) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
          await seen.handle(events);
        },
      });
      expect(sortedTextsOf(await seen.distinct(3))).toEqual(['0', '1', '2']);
      expect(await waitingDeadLetters()).toEqual([]);
    });

    it('stops during retries without losing events', async () => {
      let failed: () => void = () => undefined;
      const hasFailed = new Promise<void>((resolve) => (failed = resolve));
      await log.append(topic, numbered(2));
      const failing = await log.subscribe({
        topic,
        group: 'g',
        handle: async () => {
          failed();
          throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
        },
      });
      await hasFailed;
      await failing.stop();
      const seen = collector();
      await log.subscribe({ topic, group: 'g', handle: seen.handle });
      expect(sortedTextsOf(await seen.atLeast(2))).toEqual(['0', '1']);
    });

    it('skips no event under concurrent appends, and keeps the order of each key', () =>
      announceSeed(async (seed) => {
        const random = seededRandom(seed);
        const appenders = [log, await open(), await open(), await open()];
        const seen = collector();
        await log.subscribe({ topic, group: 'g', handle: seen.handle, maxBatchSize: 7 });
        let total = 0;
        await Promise.all(
          appenders.map(async (appender, index) => {
            for (let round = 0; round < 40; round += 1) {
              const size = random.integer(1, 4);
              total += size;
              const events = Array.from({ length: size }, (_, item) =>
                event(`appender-${index}`, `${String(round).padStart(3, '0')}.${item}`),
              );
              await appender.append(topic, events);
            }
          }),
        );
        const events = await seen.atLeast(total);
        expect(events).toHaveLength(total);
        expect(new Set(events.map(({ position }) => position)).size).toBe(total);
        for (const key of new Set(events.map((each) => each.key))) {
          const ofKey = events.filter((each) => each.key === key);
          const positions = ofKey.map(({ position }) => position);
          expect(positions).toEqual([...positions].sort((a, b) => (a < b ? -1 : 1)));
          const texts = textsOf(ofKey);
          expect(texts).toEqual([...texts].sort());
        }
      }));
  });
}

export function event(key: string, payload: string): NewEvent {
  return { key, payload: Buffer.from(payload) };
}

/** Events with the payloads "0", "1", … and a key each. */
export function numbered(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => event(`key-${index}`, `${index}`));
}

export function text(payload: Uint8Array): string {
  return Buffer.from(payload).toString();
}

export function textsOf(events: readonly LoggedEvent[]): string[] {
  return events.map(({ payload }) => text(payload));
}

/** For events with different keys, whose order is not defined. */
export function sortedTextsOf(events: readonly LoggedEvent[]): string[] {
  return textsOf(events).sort();
}

/** A handler that collects events and can be awaited. */
export function collector() {
  const events: LoggedEvent[] = [];
  const waiting = new Set<() => void>();
  const when = (enough: () => boolean): Promise<LoggedEvent[]> =>
    new Promise((resolve) => {
      const check = () => {
        if (!enough()) return;
        waiting.delete(check);
        resolve(events);
      };
      waiting.add(check);
      check();
    });
  return {
    async handle(batch: readonly LoggedEvent[]): Promise<void> {
      events.push(...batch);
      for (const check of waiting) check();
    },
    atLeast: (count: number) => when(() => events.length >= count),
    /** Counts redelivered events once. */
    distinct: (count: number) => when(() => new Set(textsOf(events)).size >= count),
  };
}
