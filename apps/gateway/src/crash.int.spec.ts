import { announceSeed, eventually, seededRandom, type SeededRandom } from '@gateway/test-support';
import { ask } from './testing/ask';
import {
  claimsChargedTwice,
  expectChargedAsTold,
  expectClosedBooks,
  expectSoundLedger,
} from './testing/books';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { startStorm, type Answered } from './testing/storm';

jest.setTimeout(180_000);

const ROUNDS = 3;
const REQUESTS = 50;
/** A hundred callers that ask every few milliseconds would measure the machine, not the lease. */
const LIKE_A_CLIENT = { pollMs: 1_000, patienceMs: 30_000 };

describe('kill -9 of the whole process during fifty requests, again and again', () => {
  let testEnv: CrashTestEnv;
  let demoKey: string;
  const all: Answered[] = [];

  /** Kills it at a moment that the seed picks: when so many of a storm's requests have their answer. */
  async function crashInStorm(random: SeededRandom, name: string): Promise<readonly Answered[]> {
    const storm = startStorm(testEnv.gateway, random, { requests: REQUESTS, name });
    const enough = random.integer(1, REQUESTS - 15);
    await eventually(`${enough} answers`, async () => (storm.finishedCount() >= enough ? true : undefined));
    await testEnv.kill();
    return storm.outcomes;
  }

  /** Sends a keyed request until it is answered: while its lease lasts it is in flight. */
  function retry({ question }: Answered) {
    return eventually(
      `an answer to ${question.idempotencyKey}`,
      async () => {
        const outcome = await ask(testEnv.gateway, question);
        if (outcome.kind === 'finished') return outcome;
        expect(outcome).toEqual({
          kind: 'failed',
          status: 409,
          code: 'idempotency_key_in_flight',
          retryAfter: '2',
        });
        return undefined;
      },
      LIKE_A_CLIENT,
    );
  }

  beforeAll(async () => {
    testEnv = await startCrashTestEnv();
    demoKey = testEnv.gateway.apiKey;
  });
  afterAll(() => testEnv?.close());

  it('leaves books that add up after every crash, and a key that works', () =>
    announceSeed(async (seed) => {
      const random = seededRandom(seed);
      for (let round = 1; round <= ROUNDS; round += 1) {
        const answered = await crashInStorm(random, `storm ${seed}-${round}`);
        expect(answered.some(({ outcome }) => outcome.kind === 'lost')).toBe(true);
        all.push(...answered);
        await testEnv.restart();
        await expectSoundLedger(testEnv.pool);
        expect(testEnv.gateway.apiKey).toBe(demoKey);
        const outcome = await ask(testEnv.gateway, { prompt: 'Hello', stream: false });
        expect(outcome.kind).toBe('finished');
      }
    }));

  it('answers every Idempotency-Key once its lease is over: the first answer again where there was one', async () => {
    const keyed = all.filter(({ question }) => question.idempotencyKey !== undefined);
    const retried = await Promise.all(
      keyed.map(async (answered) => ({ answered, again: await retry(answered) })),
    );
    for (const { answered, again } of retried) {
      if (answered.outcome.kind !== 'finished') continue;
      const { id, costNanoUsd } = answered.outcome;
      expect(again).toEqual({ kind: 'finished', id, costNanoUsd, replayed: true });
    }
    expect(retried.length).toBeGreaterThan(ROUNDS);
  });

  it('settles every finished generation once, and lets no hold outlive its deadline', async () => {
    await expectClosedBooks(testEnv.pool);
    expect(await claimsChargedTwice(testEnv.pool)).toEqual([]);
    await expectChargedAsTold(
      testEnv.pool,
      all.map(({ outcome }) => outcome),
    );
  });
});
