import { announceSeed, eventually, seededRandom, type SeededRandom } from '@gateway/test-support';
import { complete } from './testing/chat-completion';
import {
  claimsChargedTwice,
  expectExactCharges,
  expectEverythingSettled,
  expectConsistentLedger,
} from './testing/ledger-checks';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { startBurst, type CompletedRequest } from './testing/request-burst';

jest.setTimeout(180_000);

const ROUNDS = 3;
const REQUESTS = 50;
/** Polling with a hundred clients every few milliseconds would overload the machine. */
const CLIENT_POLLING = { pollMs: 1_000, timeoutMs: 30_000 };

describe('repeated kill -9 of the gateway during fifty requests', () => {
  let testEnv: CrashTestEnv;
  let demoKey: string;
  const all: CompletedRequest[] = [];

  /** Kills the gateway when a random number of the burst's requests have completed. */
  async function crashDuringBurst(random: SeededRandom, name: string): Promise<readonly CompletedRequest[]> {
    const burst = startBurst(testEnv.gateway, random, { requests: REQUESTS, name });
    const enough = random.integer(1, REQUESTS - 15);
    await eventually(`${enough} responses`, async () => (burst.finishedCount() >= enough ? true : undefined));
    await testEnv.kill();
    return burst.outcomes;
  }

  /** Retries a request with an Idempotency-Key: it is in flight until its lease expires. */
  function retry({ request }: CompletedRequest) {
    return eventually(
      `a response to ${request.idempotencyKey}`,
      async () => {
        const outcome = await complete(testEnv.gateway, request);
        if (outcome.kind === 'finished') return outcome;
        expect(outcome).toEqual({
          kind: 'failed',
          status: 409,
          code: 'idempotency_key_in_flight',
          retryAfter: '2',
        });
        return undefined;
      },
      CLIENT_POLLING,
    );
  }

  beforeAll(async () => {
    testEnv = await startCrashTestEnv();
    demoKey = testEnv.gateway.apiKey;
  });
  afterAll(() => testEnv?.close());

  it('leaves a consistent ledger and a working API key after every crash', () =>
    announceSeed(async (seed) => {
      const random = seededRandom(seed);
      for (let round = 1; round <= ROUNDS; round += 1) {
        const completed = await crashDuringBurst(random, `burst ${seed}-${round}`);
        expect(completed.some(({ outcome }) => outcome.kind === 'disconnected')).toBe(true);
        all.push(...completed);
        await testEnv.restart();
        await expectConsistentLedger(testEnv.pool);
        expect(testEnv.gateway.apiKey).toBe(demoKey);
        const outcome = await complete(testEnv.gateway, { prompt: 'Hello', stream: false });
        expect(outcome.kind).toBe('finished');
      }
    }));

  it('retries of every Idempotency-Key succeed after the lease expires, and replay a completed response', async () => {
    const keyed = all.filter(({ request }) => request.idempotencyKey !== undefined);
    const retried = await Promise.all(
      keyed.map(async (completed) => ({ completed, retry: await retry(completed) })),
    );
    for (const { completed, retry: outcome } of retried) {
      if (completed.outcome.kind !== 'finished') continue;
      const { id, costNanoUsd } = completed.outcome;
      expect(outcome).toEqual({ kind: 'finished', id, costNanoUsd, replayed: true });
    }
    expect(retried.length).toBeGreaterThan(ROUNDS);
  });

  it('settles every finished generation once, and keeps no hold past its deadline', async () => {
    await expectEverythingSettled(testEnv.pool);
    const { rows } = await testEnv.pool.query('select from billing_ledger.runs where spent_nano_usd > 0');
    expect(rows).toHaveLength(ROUNDS);
    expect(await claimsChargedTwice(testEnv.pool)).toEqual([]);
    await expectExactCharges(
      testEnv.pool,
      all.map(({ outcome }) => outcome),
    );
  });
});
