import { createAuditEntry } from '@gateway/test-support';
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

/** The contract suite of dead letters, for every event log. */
export function describeDeadLetters(name: string, createHarness: () => Promise<EventLogHarness>): void {
  describe(`${name} fulfills the contract of dead letters`, () => {
    let harness: EventLogHarness;
    let processes: EventLogProcess[];
    let log: EventLogProcess;
    let topicNumber = 0;
    let topic: string;
    /** Texts that the handler rejects, with the reason. */
    let refused: Map<string, Error | string>;
    let seen: ReturnType<typeof collector>;

    beforeAll(async () => {
      harness = await createHarness();
    });

    beforeEach(async () => {
      topicNumber += 1;
      topic = `dead-letters-${topicNumber}`;
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
      const unprocessable: Unprocessable[] = [];
      for (const each of events) {
        const why = refused.get(text(each.payload));
        if (why instanceof Error) throw why;
        if (why !== undefined) unprocessable.push({ event: each, reason: why });
      }
      if (unprocessable.length > 0) throw new UnprocessableEventsError(unprocessable);
      await seen.handle(events);
    }

    const ref = (position: bigint): DeadLetterRef => ({ topic, group: GROUP, position });

    async function list(state: DeadLetterState = 'waiting', limit = 100): Promise<readonly DeadLetter[]> {
      return (await log.deadLetters.list({ topic, group: GROUP, state, limit })).deadLetters;
    }

    /** Polls until the value matches. */
    async function until<Value>(
      read: () => Promise<Value>,
      isExpected: (value: Value) => boolean,
    ): Promise<Value> {
      for (;;) {
        const value = await read();
        if (isExpected(value)) return value;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }

    /** Appends events "0", "1", …, rejects the given ones, and waits for their dead letters. */
    async function createDeadLetters(count: number, bad: string[], why: Error | string = 'not a message') {
      for (const each of bad) refused.set(each, why);
      await log.subscribe({ topic, group: GROUP, handle });
      await log.append(topic, numbered(count));
      return until(list, (deadLetters) => deadLetters.length === bad.length);
    }

    it('lists them newest first with reason, attempts, times and size, page by page', async () => {
      const deadLetters = await createDeadLetters(7, ['1', '2', '5']);
      expect(deadLetters.map(({ key }) => key)).toEqual(['key-5', 'key-2', 'key-1']);
      expect(deadLetters[0]).toMatchObject({
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
      expect(deadLetters[0]?.deadLetteredUnixMs).toBe(deadLetters[0]?.failedUnixMs);
      const query = { topic, group: GROUP, state: 'waiting', limit: 2 } as const;
      const first = await log.deadLetters.list(query);
      expect(first.deadLetters).toEqual(deadLetters.slice(0, 2));
      const second = await log.deadLetters.list({ ...query, before: first.nextBefore as bigint });
      expect(second).toEqual({ deadLetters: deadLetters.slice(2), nextBefore: undefined });
    });

    it('reads one with its payload and headers as they were appended', async () => {
      refused.set('bad', 'not a message');
      await log.append(topic, [{ ...event('k', 'bad'), headers: { traceparent: '00-ü' } }]);
      await log.subscribe({ topic, group: GROUP, handle });
      const [deadLetter] = await until(list, ({ length }) => length === 1);
      const stored = await log.deadLetters.read(deadLetter as DeadLetter);
      expect(text(stored?.payload ?? Buffer.alloc(0))).toBe('bad');
      expect(stored).toMatchObject({ ...deadLetter, headers: { traceparent: '00-ü' } });
      expect(await log.deadLetters.read(ref(4_711n))).toBeUndefined();
      expect(
        await log.deadLetters.read({ ...ref(deadLetter?.position ?? 0n), group: 'another' }),
      ).toBeUndefined();
    });

    it('delivers one again to its group only, and then deletes it', async () => {
      const other = collector();
      await log.subscribe({ topic, group: 'other', handle: other.handle });
      const [deadLetter] = await createDeadLetters(3, ['1']);
      await other.atLeast(3);
      refused.clear();
      // Requested in another process than the leader.
      const elsewhere = (await open()).deadLetters;
      expect(await elsewhere.redeliver(deadLetter as DeadLetter, createAuditEntry())).toBe('redelivering');
      const events = await seen.distinct(3);
      expect(events.at(-1)).toMatchObject({ topic, key: 'key-1', position: deadLetter?.position });
      await until(
        () => log.deadLetters.read(deadLetter as DeadLetter),
        (left) => left === undefined,
      );
      expect(await other.atLeast(3)).toHaveLength(3);
      expect(await elsewhere.redeliver(deadLetter as DeadLetter, createAuditEntry())).toBe('not_found');
    });

    it('updates reason and attempts after another failure, and keeps the time of the first', async () => {
      const [deadLetter] = await createDeadLetters(2, ['1']);
      refused.set('1', new TypeError('still not'));
      await log.deadLetters.redeliver(deadLetter as DeadLetter, createAuditEntry());
      const updated = await until(
        () => log.deadLetters.read(deadLetter as DeadLetter),
        (now) => now?.state === 'waiting' && now.attempts > 1,
      );
      expect(updated).toMatchObject({
        reason: 'TypeError: still not',
        attempts: 2,
        deadLetteredUnixMs: deadLetter?.deadLetteredUnixMs,
      });
    });

    it('delivers new events in order during a temporary failure, and the dead letter after it', async () => {
      const [deadLetter] = await createDeadLetters(2, ['1']);
      refused.set('1', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
      await log.deadLetters.redeliver(deadLetter as DeadLetter, createAuditEntry());
      await log.append(topic, [event('k', 'meanwhile')]);
      await seen.distinct(2);
      expect(await list('redelivering')).toMatchObject([{ attempts: 1, reason: 'not a message' }]);
      refused.clear();
      // Another request is harmless, and wakes the leader.
      await log.deadLetters.redeliver(deadLetter as DeadLetter, createAuditEntry());
      await seen.distinct(3);
    });

    it('redelivers a dead letter that was requested while the group had no leader', async () => {
      refused.set('0', 'not a message');
      const subscription = await log.subscribe({ topic, group: GROUP, handle });
      await log.append(topic, [event('k', '0')]);
      const [deadLetter] = await until(list, ({ length }) => length === 1);
      await subscription.stop();
      refused.clear();
      await log.deadLetters.redeliver(deadLetter as DeadLetter, createAuditEntry());
      await (await open()).subscribe({ topic, group: GROUP, handle });
      await seen.atLeast(1);
    });

    it('discards one once with a reason, keeps it readable, and redelivers it on request', async () => {
      const [deadLetter] = await createDeadLetters(2, ['1']);
      const at = deadLetter as DeadLetter;
      expect(await log.deadLetters.discard(at, 'a test of ours', createAuditEntry())).toBe('discarded');
      expect(await log.deadLetters.discard(at, 'another reason', createAuditEntry())).toBe('discarded');
      expect(await list()).toEqual([]);
      const [discarded] = await list('discarded');
      expect(discarded).toMatchObject({ position: at.position, discarded: { reason: 'a test of ours' } });
      expect(await log.deadLetters.count(at)).toEqual({ waiting: 0, redelivering: 0, discarded: 1 });
      expect(await log.deadLetters.discard(ref(4_711n), 'no', createAuditEntry())).toBe('not_found');
      refused.clear();
      expect(await log.deadLetters.redeliver(at, createAuditEntry())).toBe('redelivering');
      await seen.distinct(2);
    });

    it('does not discard one while a handler may be processing it', async () => {
      const [deadLetter] = await createDeadLetters(2, ['1']);
      let resume: () => void = () => undefined;
      const paused = new Promise<void>((resolve) => (resume = resolve));
      let started: () => void = () => undefined;
      const hasStarted = new Promise<void>((resolve) => (started = resolve));
      refused.clear();
      const original = seen.handle;
      seen.handle = async (events) => {
        started();
        await paused;
        await original(events);
      };
      await log.deadLetters.redeliver(deadLetter as DeadLetter, createAuditEntry());
      await hasStarted;
      expect(await log.deadLetters.discard(deadLetter as DeadLetter, 'no', createAuditEntry())).toBe(
        'redelivering',
      );
      resume();
      await seen.distinct(2);
    });
  });
}
