import type { DeadLetter, DeadLetterRef, DeadLetterState } from './dead-letters';
import {
  collector,
  event,
  numbered,
  text,
  type EventLogHarness,
  type EventLogProcess,
} from './event-log.contract';
import { UnprocessableEventsError, type LoggedEvent, type Unprocessable } from './event-log';

const GROUP = 'g';
const POLL_MS = 5;

/** What every event log promises about what its groups gave up on. */
export function describeDeadLetters(name: string, createHarness: () => Promise<EventLogHarness>): void {
  describe(`${name} keeps the contract of dead letters`, () => {
    let harness: EventLogHarness;
    let processes: EventLogProcess[];
    let log: EventLogProcess;
    let topicNumber = 0;
    let topic: string;
    /** Texts that the handler refuses, and why. */
    let refused: Map<string, Error | string>;
    let seen: ReturnType<typeof collector>;

    beforeAll(async () => {
      harness = await createHarness();
    });

    beforeEach(async () => {
      topicNumber += 1;
      topic = `letters-${topicNumber}`;
      processes = [];
      refused = new Map();
      seen = collector();
      log = await open();
    });

    afterEach(() => Promise.all(processes.map((process) => process.stop())));

    async function open(): Promise<EventLogProcess> {
      const process = await harness.open();
      processes.push(process);
      return process;
    }

    async function handle(events: readonly LoggedEvent[]): Promise<void> {
      const hopeless: Unprocessable[] = [];
      for (const each of events) {
        const why = refused.get(text(each.payload));
        if (why instanceof Error) throw why;
        if (why !== undefined) hopeless.push({ event: each, reason: why });
      }
      if (hopeless.length > 0) throw new UnprocessableEventsError(hopeless);
      await seen.handle(events);
    }

    const ref = (position: bigint): DeadLetterRef => ({ topic, group: GROUP, position });

    async function list(state: DeadLetterState = 'waiting', limit = 100): Promise<readonly DeadLetter[]> {
      return (await log.deadLetters.list({ topic, group: GROUP, state, limit })).letters;
    }

    /** Waits for a state, as a person at the dashboard would. */
    async function until<Value>(
      look: () => Promise<Value>,
      isThere: (value: Value) => boolean,
    ): Promise<Value> {
      for (;;) {
        const value = await look();
        if (isThere(value)) return value;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }

    /** Appends events "0", "1", … of which these are refused, and waits for their letters. */
    async function bury(count: number, bad: string[], why: Error | string = 'not a message') {
      for (const each of bad) refused.set(each, why);
      await log.subscribe({ topic, group: GROUP, handle });
      await log.append(topic, numbered(count));
      return until(list, (letters) => letters.length === bad.length);
    }

    it('lists them newest first with reason, attempts, times and size, page by page', async () => {
      const letters = await bury(7, ['1', '2', '5']);
      expect(letters.map(({ key }) => key)).toEqual(['key-5', 'key-2', 'key-1']);
      expect(letters[0]).toMatchObject({
        topic,
        group: GROUP,
        state: 'waiting',
        reason: 'not a message',
        attempts: 1,
        payloadBytes: 1,
        discarded: undefined,
      });
      const none = { waiting: 0, redelivering: 0, discarded: 0 };
      expect(await log.deadLetters.count({ topic, group: GROUP })).toEqual({ ...none, waiting: 3 });
      expect(await log.deadLetters.count({ topic, group: 'another' })).toEqual(none);
      expect(letters[0]?.deadLetteredUnixMs).toBe(letters[0]?.failedUnixMs);
      const query = { topic, group: GROUP, state: 'waiting', limit: 2 } as const;
      const first = await log.deadLetters.list(query);
      expect(first.letters).toEqual(letters.slice(0, 2));
      const second = await log.deadLetters.list({ ...query, before: first.nextBefore as bigint });
      expect(second).toEqual({ letters: letters.slice(2), nextBefore: undefined });
    });

    it('shows one whole: payload and headers as they were appended', async () => {
      refused.set('bad', 'not a message');
      await log.append(topic, [{ ...event('k', 'bad'), headers: { traceparent: '00-ü' } }]);
      await log.subscribe({ topic, group: GROUP, handle });
      const [letter] = await until(list, ({ length }) => length === 1);
      const whole = await log.deadLetters.read(letter as DeadLetter);
      expect(text(whole?.payload ?? Buffer.alloc(0))).toBe('bad');
      expect(whole).toMatchObject({ ...letter, headers: { traceparent: '00-ü' } });
      expect(await log.deadLetters.read(ref(4_711n))).toBeUndefined();
      expect(
        await log.deadLetters.read({ ...ref(letter?.position ?? 0n), group: 'another' }),
      ).toBeUndefined();
    });

    it('delivers one again to its group alone, and then it is gone', async () => {
      const other = collector();
      await log.subscribe({ topic, group: 'other', handle: other.handle });
      const [letter] = await bury(3, ['1']);
      await other.atLeast(3);
      refused.clear();
      // Asked of another process than the one in charge.
      const asking = (await open()).deadLetters;
      expect(await asking.redeliver(letter as DeadLetter)).toBe('redelivering');
      const events = await seen.distinct(3);
      expect(events.at(-1)).toMatchObject({ topic, key: 'key-1', position: letter?.position });
      await until(
        () => log.deadLetters.read(letter as DeadLetter),
        (left) => left === undefined,
      );
      expect(await other.atLeast(3)).toHaveLength(3);
      expect(await asking.redeliver(letter as DeadLetter)).toBe('not_found');
    });

    it('has one that fails again wait with its new reason, one more attempt, and its first death', async () => {
      const [letter] = await bury(2, ['1']);
      refused.set('1', new TypeError('still not'));
      await log.deadLetters.redeliver(letter as DeadLetter);
      const again = await until(
        () => log.deadLetters.read(letter as DeadLetter),
        (now) => now?.state === 'waiting' && now.attempts > 1,
      );
      expect(again).toMatchObject({
        reason: 'TypeError: still not',
        attempts: 2,
        deadLetteredUnixMs: letter?.deadLetteredUnixMs,
      });
    });

    it('delivers what comes in order meanwhile, and the letter after a failure that passes', async () => {
      const [letter] = await bury(2, ['1']);
      refused.set('1', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
      await log.deadLetters.redeliver(letter as DeadLetter);
      await log.append(topic, [event('k', 'meanwhile')]);
      await seen.distinct(2);
      expect(await list('redelivering')).toMatchObject([{ attempts: 1, reason: 'not a message' }]);
      refused.clear();
      // Asking again is harmless, and wakes.
      await log.deadLetters.redeliver(letter as DeadLetter);
      await seen.distinct(3);
    });

    it('redelivers what was asked for while no member was in charge', async () => {
      refused.set('0', 'not a message');
      const subscription = await log.subscribe({ topic, group: GROUP, handle });
      await log.append(topic, [event('k', '0')]);
      const [letter] = await until(list, ({ length }) => length === 1);
      await subscription.stop();
      refused.clear();
      await log.deadLetters.redeliver(letter as DeadLetter);
      await (await open()).subscribe({ topic, group: GROUP, handle });
      await seen.atLeast(1);
    });

    it('discards one with a reason, once, keeps it to be looked at, and delivers it after all if asked', async () => {
      const [letter] = await bury(2, ['1']);
      const at = letter as DeadLetter;
      expect(await log.deadLetters.discard(at, 'a test of ours')).toBe('discarded');
      expect(await log.deadLetters.discard(at, 'another reason')).toBe('discarded');
      expect(await list()).toEqual([]);
      const [discarded] = await list('discarded');
      expect(discarded).toMatchObject({ position: at.position, discarded: { reason: 'a test of ours' } });
      expect(await log.deadLetters.count(at)).toEqual({ waiting: 0, redelivering: 0, discarded: 1 });
      expect(await log.deadLetters.discard(ref(4_711n), 'no')).toBe('not_found');
      refused.clear();
      expect(await log.deadLetters.redeliver(at)).toBe('redelivering');
      await seen.distinct(2);
    });

    it('does not discard one that a handler may just be taking', async () => {
      const [letter] = await bury(2, ['1']);
      let goOn: () => void = () => undefined;
      const pause = new Promise<void>((resolve) => (goOn = resolve));
      let taken: () => void = () => undefined;
      const isTaken = new Promise<void>((resolve) => (taken = resolve));
      refused.clear();
      const original = seen.handle;
      seen.handle = async (events) => {
        taken();
        await pause;
        await original(events);
      };
      await log.deadLetters.redeliver(letter as DeadLetter);
      await isTaken;
      expect(await log.deadLetters.discard(letter as DeadLetter, 'no')).toBe('redelivering');
      goOn();
      await seen.distinct(2);
    });
  });
}
