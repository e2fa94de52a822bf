import { createTestDatabase, eventually, type TestDatabase } from '@gateway/test-support';
import { ask, type Outcome, type Question } from './testing/ask';
import { claimsChargedTwice, expectClosedBooks } from './testing/books';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { stallRows } from './testing/stalled-rows';

jest.setTimeout(60_000);

const IN_FLIGHT: Outcome = {
  kind: 'failed',
  status: 409,
  code: 'idempotency_key_in_flight',
  retryAfter: '2',
};
/** Where the end of a generation is made durable. */
const EVENT_LOG_TAIL = `select from event_log.topics where topic = 'generation.finished' for update`;
/** What every settlement locks first. */
const ACCOUNTS = 'select from billing_ledger.accounts for update';

describe('an Idempotency-Key whose process is killed', () => {
  let database: TestDatabase;
  let testEnv: CrashTestEnv;
  let counter = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    testEnv = await startCrashTestEnv({ databaseUrl: database.url });
    await ask(testEnv.gateway, { prompt: 'so that there is a log and an account', stream: false });
  });
  afterAll(async () => {
    await testEnv?.close();
    await database?.drop();
  });

  function question(prompt: string, stream = false): Question {
    counter += 1;
    return { prompt: `${prompt} number ${counter}`, stream, idempotencyKey: `key-${counter}` };
  }

  const received = () => testEnv.emulator.stats().received;

  /** How the request is answered once it no longer is in flight. */
  function settledAnswer(asked: Question): Promise<Outcome> {
    return eventually(
      'the key is in flight no more',
      async () => {
        const outcome = await ask(testEnv.gateway, asked);
        if (outcome.kind === 'finished') return outcome;
        expect(outcome).toEqual(IN_FLIGHT);
        return undefined;
      },
      { pollMs: 200 },
    );
  }

  it.each([false, true])(
    'while the provider works (stream: %s): 409 until its lease ends, then it runs again',
    async (stream) => {
      const asked = question('[[delay:2000]] slow', stream);
      const before = received();
      const first = ask(testEnv.gateway, asked);
      await testEnv.emulator.until((stats) => stats.received === before + 1);
      expect(await ask(testEnv.gateway, asked)).toEqual(IN_FLIGHT);
      await testEnv.kill();
      expect(await first).toEqual({ kind: 'lost' });
      await testEnv.restart();
      expect(await settledAnswer(asked)).toMatchObject({ kind: 'finished', replayed: false });
      expect(received()).toBe(before + 2);
    },
  );

  it('between the answer of the provider and the store: runs again, and is charged once', async () => {
    const asked = question('answered, not stored');
    const log = await stallRows(database.url, EVENT_LOG_TAIL);
    const first = ask(testEnv.gateway, asked);
    await log.someoneWaits();
    await testEnv.kill();
    await log.cutOffAndRelease();
    expect(await first).toEqual({ kind: 'lost' });
    await testEnv.restart();
    const again = await settledAnswer(asked);
    expect(again).toMatchObject({ kind: 'finished', replayed: false });
    expect(await settledAnswer(asked)).toEqual({ ...again, replayed: true });
  });

  it('while the store is under way and succeeds after its death: the stored answer is replayed', async () => {
    const asked = question('stored after death', true);
    const log = await stallRows(database.url, EVENT_LOG_TAIL);
    const before = received();
    const first = ask(testEnv.gateway, asked);
    await log.someoneWaits();
    await testEnv.kill();
    await log.release();
    expect(await first).toEqual({ kind: 'lost' });
    await testEnv.restart();
    expect(await settledAnswer(asked)).toMatchObject({ kind: 'finished', replayed: true });
    expect(received()).toBe(before + 1);
  });

  it('between the store and the settlement: 409, then the stored answer', async () => {
    const asked = question('[[delay:1000]] stored, not settled');
    const before = received();
    const accounts = await stallAfterHold(asked);
    await accounts.someoneWaits();
    await accounts.answered;
    expect(await ask(testEnv.gateway, asked)).toEqual(IN_FLIGHT);
    await testEnv.kill();
    await accounts.cutOffAndRelease();
    await testEnv.restart();
    expect(await settledAnswer(asked)).toMatchObject({ kind: 'finished', replayed: true });
    expect(received()).toBe(before + 1);
  });

  /** Stalls settlements once the request has its hold. */
  async function stallAfterHold(asked: Question) {
    const before = received();
    const answered = ask(testEnv.gateway, asked);
    await testEnv.emulator.until((stats) => stats.received === before + 1);
    const accounts = await stallRows(database.url, ACCOUNTS);
    return { ...accounts, answered };
  }

  it('after it was answered: the same answer, from the process that comes next', async () => {
    for (const stream of [false, true]) {
      const asked = question('answered', stream);
      const first = await ask(testEnv.gateway, asked);
      await testEnv.kill();
      await testEnv.restart();
      expect(await settledAnswer(asked)).toEqual({ ...first, replayed: true });
    }
  });

  it('leaves nothing open and no key charged twice', async () => {
    await testEnv.kill();
    await testEnv.restart();
    await expectClosedBooks(testEnv.pool);
    expect(await claimsChargedTwice(testEnv.pool)).toEqual([]);
  });
});
