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
  type WatchesLag,
} from './event-log';

/** One process's view of the log. */
export interface EventLogProcess extends EventAppender, EventSubscriber, EventLag, WatchesLag {
  readonly deadLetters: DeadLetters;
  readonly metrics: Registry;
  stop(): Promise<void>;
}

export interface EventLogHarness {
  /** Opens the same log as another process would. */
  open(): Promise<EventLogProcess>;
  /** Ends a process's connections without giving it the chance to save anything. */
  crash(process: EventLogProcess): Promise<void>;
}

/** What every event log promises, whatever it is made of. */
export function describeEventLog(name: string, createHarness: () => Promise<EventLogHarness>): void {
  describe(`${name} keeps the contract of an event log`, () => {
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

    async function waitingLetters() {
      const { letters } = await log.deadLetters.list({ topic, group: 'g', state: 'waiting', limit: 100 });
      return letters;
    }

    /** Until the count is this one; a broker that has just been started may not be able to tell at once. */
    const untilWaiting = (group: string, count: number) =>
      eventually(`${count} events wait for ${group}`, async () => {
        const counted = await log.countWaiting({ topic, group }).catch(() => undefined);
        return counted === count || undefined;
      });

    it('counts what a group has not handled yet, wherever its members run', async () => {
      await log.append(topic, [event('a', '1'), event('b', '2'), event('a', '3')]);
      await untilWaiting('g', 3);
      const other = await open();
      const seen = collector();
      await other.subscribe({ topic, group: 'g', handle: seen.handle });
      await untilWaiting('g', 0);
      await untilWaiting('another', 3);
    });

    /** Until the process shows that so many events wait for the group; undefined for nothing at all. */
    const untilShown = (group: string, count: number | undefined) =>
      eventually(`${count} events to be shown that wait for ${group}`, async () => {
        const shown = await log.metrics.getSingleMetric('gateway_events_lag')?.get();
        const sample = shown?.values.find(({ labels }) => labels.topic === topic && labels.group === group);
        return sample?.value === count || undefined;
      });

    it('shows how many events wait for a group while its only member is stuck', async () => {
      let release: () => void = () => undefined;
      const stuck = new Promise<void>((resolve) => (release = resolve));
      let tellBegun: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => (tellBegun = resolve));
      const handle = async () => {
        tellBegun();
        await stuck;
      };
      await log.subscribe({ topic, group: 'g', handle });
      await log.append(topic, numbered(2));
      await begun;
      await log.append(topic, numbered(3));
      await untilShown('g', 5);
      release();
      await untilShown('g', 0);
    });

    it('shows how many events wait for a group that has no member anywhere', async () => {
      await log.append(topic, numbered(2));
      log.watchLag({ topic, group: 'away' });
      await untilShown('away', 2);
      await log.append(topic, numbered(1));
      await untilShown('away', 3);
    });

    it('shows nothing of a group rather than what is no longer known', async () => {
      await log.append(topic, numbered(2));
      log.watchLag({ topic, group: 'g' });
      await untilShown('g', 2);
      await harness.crash(log);
      await untilShown('g', undefined);
    });

    it('delivers every event with its key, payload, headers and a position of its own', async () => {
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

    it('delivers payloads of every length as they were, in whatever company', async () => {
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
      for (let round = 1; round <= 3; round += 1) {
        await (await open()).append(topic, [event('a', `${round}`)]);
        await seen.atLeast(round);
      }
    });

    it('gives each group every event, and one that comes later starts at the beginning', async () => {
      const [early, late] = [collector(), collector()];
      await log.subscribe({ topic, group: 'early', handle: early.handle });
      await log.append(topic, numbered(20));
      await early.atLeast(20);
      await log.subscribe({ topic, group: 'late', handle: late.handle });
      expect(sortedTextsOf(await late.atLeast(20))).toEqual(sortedTextsOf(await early.atLeast(20)));
    });

    it('never gives a batch larger than asked for', async () => {
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

    it('goes on where the group stopped', async () => {
      const [first, second] = [collector(), collector()];
      const subscription = await log.subscribe({ topic, group: 'g', handle: first.handle });
      await log.append(topic, numbered(5));
      await first.atLeast(5);
      // Whoever loses its place before it has noted what it did is sent that again.
      await untilWaiting('g', 0);
      await subscription.stop();
      await log.append(topic, [event('a', 'after')]);
      await (await open()).subscribe({ topic, group: 'g', handle: second.handle });
      expect(textsOf(await second.atLeast(1))).toEqual(['after']);
    });

    it('delivers again what a member had handled but not yet recorded when it crashed', async () => {
      const dying = await open();
      const handledOnce = collector();
      let stuck: () => void = () => undefined;
      const handledAndDead = new Promise<void>((resolve) => (stuck = resolve));
      await log.append(topic, numbered(3));
      await dying.subscribe({
        topic,
        group: 'g',
        handle: async (events) => {
          await handledOnce.handle(events);
          await harness.crash(dying);
          stuck();
        },
      });
      await handledAndDead;
      const again = collector();
      await log.subscribe({ topic, group: 'g', handle: again.handle });
      expect(sortedTextsOf(await again.atLeast(3))).toEqual(['0', '1', '2']);
    });

    it('lets one member of a group work on a key at a time, in order, across processes', async () => {
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

    it('hands a group over to another member', async () => {
      const [first, second] = [collector(), collector()];
      const active = await log.subscribe({ topic, group: 'g', handle: first.handle });
      await log.append(topic, [event('a', 'one')]);
      await first.atLeast(1);
      await (await open()).subscribe({ topic, group: 'g', handle: second.handle });
      await active.stop();
      await log.append(topic, [event('a', 'two')]);
      expect(textsOf(await second.atLeast(1))).toEqual(['two']);
    });

    it('buries what the handler calls hopeless with its reason, and delivers the rest of the batch', async () => {
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
      const letters = await eventually('both letters', async () => {
        const found = await waitingLetters();
        return found.length === 2 ? found : undefined;
      });
      expect(letters).toEqual(
        expect.arrayContaining(
          ['key-1', 'key-4'].map((key) =>
            expect.objectContaining({ key, reason: 'not a message', attempts: 1 }),
          ),
        ),
      );
    });

    it('isolates an event that always fails, gives it up after some attempts, and is never blocked', async () => {
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
      const letters = await eventually('the letter', async () => {
        const found = await waitingLetters();
        return found.length === 1 ? found : undefined;
      });
      expect(attempts).toBeGreaterThan(1);
      expect(letters).toMatchObject([{ key: 'key-2', reason: 'TypeError: cannot read it', attempts }]);
    });

    it('keeps trying while a failure is one that passes, and buries nothing', async () => {
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
      expect(await waitingLetters()).toEqual([]);
    });

    it('stops in the middle of endless retries, and loses nothing by it', async () => {
      let tried: () => void = () => undefined;
      const hasTried = new Promise<void>((resolve) => (tried = resolve));
      await log.append(topic, numbered(2));
      const hopeless = await log.subscribe({
        topic,
        group: 'g',
        handle: async () => {
          tried();
          throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
        },
      });
      await hasTried;
      await hopeless.stop();
      const seen = collector();
      await log.subscribe({ topic, group: 'g', handle: seen.handle });
      expect(sortedTextsOf(await seen.atLeast(2))).toEqual(['0', '1']);
    });

    it('never lets a reader skip an event while many append at once, and keeps the order of each key', () =>
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

/** Of events with different keys, which come in any order. */
export function sortedTextsOf(events: readonly LoggedEvent[]): string[] {
  return textsOf(events).sort();
}

/** A handler that keeps what it gets, and can be awaited. */
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
    /** Counts an event that was delivered again once. */
    distinct: (count: number) => when(() => new Set(textsOf(events)).size >= count),
  };
}
