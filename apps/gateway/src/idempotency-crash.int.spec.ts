import { createTestDatabase, eventually, type TestDatabase } from '@gateway/test-support';
import { complete, type Outcome, type ChatRequest } from './testing/chat-completion';
import { claimsChargedTwice, expectEverythingSettled } from './testing/ledger-checks';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { lockRows } from './testing/row-lock';

jest.setTimeout(60_000);

const IN_FLIGHT: Outcome = {
  kind: 'failed',
  status: 409,
  code: 'idempotency_key_in_flight',
  retryAfter: '2',
};
/** The row that is locked to append a finished generation. */
const EVENT_LOG_TAIL = `select from event_log.topics where topic = 'generation.finished' for update`;
/** The rows that every settlement locks first. */
const ACCOUNTS = 'select from billing_ledger.accounts for update';

describe('an Idempotency-Key when the gateway is killed', () => {
  let database: TestDatabase;
  let testEnv: CrashTestEnv;
  let counter = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    testEnv = await startCrashTestEnv({ databaseUrl: database.url });
    await complete(testEnv.gateway, { prompt: 'creates the event log and an account', stream: false });
  });
  afterAll(async () => {
    await testEnv?.close();
    await database?.drop();
  });

  function newRequest(prompt: string, stream = false): ChatRequest {
    counter += 1;
    return { prompt: `${prompt} number ${counter}`, stream, idempotencyKey: `key-${counter}` };
  }

  const received = () => testEnv.emulator.stats().received;

  /** Retries until the request is no longer in flight. */
  function retryUntilFinished(request: ChatRequest): Promise<Outcome> {
    return eventually(
      'the key is no longer in flight',
      async () => {
        const outcome = await complete(testEnv.gateway, request);
        if (outcome.kind === 'finished') return outcome;
        expect(outcome).toEqual(IN_FLIGHT);
        return undefined;
      },
      { pollMs: 200 },
    );
  }

  it.each([false, true])(
    'during the provider call (stream: %s): 409 until the lease expires, then it runs again',
    async (stream) => {
      const request = newRequest('[[delay:2000]] slow', stream);
      const before = received();
      const first = complete(testEnv.gateway, request);
      await testEnv.emulator.until((stats) => stats.received === before + 1);
      expect(await complete(testEnv.gateway, request)).toEqual(IN_FLIGHT);
      await testEnv.kill();
      expect(await first).toEqual({ kind: 'disconnected' });
      await testEnv.restart();
      expect(await retryUntilFinished(request)).toMatchObject({ kind: 'finished', replayed: false });
      expect(received()).toBe(before + 2);
    },
  );

  it('between the response of the provider and storing it: it runs again, and is charged once', async () => {
    const request = newRequest('completed, not stored');
    const log = await lockRows(database.url, EVENT_LOG_TAIL);
    const first = complete(testEnv.gateway, request);
    await log.waitForBlockedQuery();
    await testEnv.kill();
    await log.terminateBlockedAndRelease();
    expect(await first).toEqual({ kind: 'disconnected' });
    await testEnv.restart();
    const retried = await retryUntilFinished(request);
    expect(retried).toMatchObject({ kind: 'finished', replayed: false });
    expect(await retryUntilFinished(request)).toEqual({ ...retried, replayed: true });
  });

  it('while the response is being stored, which succeeds after the kill: the response is replayed', async () => {
    const request = newRequest('stored after death', true);
    const log = await lockRows(database.url, EVENT_LOG_TAIL);
    const before = received();
    const first = complete(testEnv.gateway, request);
    await log.waitForBlockedQuery();
    await testEnv.kill();
    await log.release();
    expect(await first).toEqual({ kind: 'disconnected' });
    await testEnv.restart();
    expect(await retryUntilFinished(request)).toMatchObject({ kind: 'finished', replayed: true });
    expect(received()).toBe(before + 1);
  });

  it('between storing and settling: 409, then the stored response', async () => {
    const request = newRequest('[[delay:1000]] stored, not settled');
    const before = received();
    const accounts = await lockAccountsAfterHold(request);
    await accounts.waitForBlockedQuery();
    await accounts.completed;
    expect(await complete(testEnv.gateway, request)).toEqual(IN_FLIGHT);
    await testEnv.kill();
    await accounts.terminateBlockedAndRelease();
    await testEnv.restart();
    expect(await retryUntilFinished(request)).toMatchObject({ kind: 'finished', replayed: true });
    expect(received()).toBe(before + 1);
  });

  /** Blocks settlements after the request has its hold. */
  async function lockAccountsAfterHold(request: ChatRequest) {
    const before = received();
    const completed = complete(testEnv.gateway, request);
    await testEnv.emulator.until((stats) => stats.received === before + 1);
    const accounts = await lockRows(database.url, ACCOUNTS);
    return { ...accounts, completed };
  }

  it('after the response: the restarted process replays it', async () => {
    for (const stream of [false, true]) {
      const request = newRequest('completed', stream);
      const first = await complete(testEnv.gateway, request);
      await testEnv.kill();
      await testEnv.restart();
      expect(await retryUntilFinished(request)).toEqual({ ...first, replayed: true });
    }
  });

  it('everything is settled, and no key is charged twice', async () => {
    await testEnv.kill();
    await testEnv.restart();
    await expectEverythingSettled(testEnv.pool);
    expect(await claimsChargedTwice(testEnv.pool)).toEqual([]);
  });
});
