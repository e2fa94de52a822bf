import { randomUUID } from 'node:crypto';
import {
  announceSeed,
  databaseProcessesOf,
  eventually,
  freezeDatabaseOf,
  seededRandom,
  type SeededRandom,
} from '@gateway/test-support';
import { ask, type Outcome } from './testing/ask';
import { claimsChargedTwice, expectChargedAsTold, expectClosedBooks } from './testing/books';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { limitConcurrency } from './testing/limit-concurrency';
import { startStorm, type Storm } from './testing/storm';

jest.setTimeout(120_000);

const REQUESTS = 50;

describe('a gateway whose database is lost under load', () => {
  let testEnv: CrashTestEnv;

  beforeAll(async () => {
    testEnv = await startCrashTestEnv();
    await limitConcurrency(testEnv.gateway, REQUESTS);
  });
  afterAll(() => testEnv?.close());

  async function stormUntilSomeAnswers(random: SeededRandom, name: string): Promise<Storm> {
    const storm = startStorm(testEnv.gateway, random, { requests: REQUESTS, name });
    const enough = random.integer(1, REQUESTS / 2);
    await eventually(`${enough} answers`, async () => (storm.finishedCount() >= enough ? true : undefined));
    return storm;
  }

  /** The gateway itself lives on, so nobody's connection may simply end. */
  function expectClearAnswers(outcomes: readonly Outcome[], refusals = ['no_capacity']): void {
    const kinds = outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.code : outcome.kind));
    expect(kinds.filter((kind) => kind !== 'finished' && !refusals.includes(kind))).toEqual([]);
  }

  /** Each slot that was not released would refuse one of these. */
  async function expectAllSlotsFree(): Promise<void> {
    const outcomes = await Promise.all(
      Array.from({ length: REQUESTS }, (_, index) =>
        ask(testEnv.gateway, { prompt: `[[delay:1500]] slot ${index}`, stream: false }),
      ),
    );
    expect(outcomes.filter(({ kind }) => kind !== 'finished')).toEqual([]);
  }

  it('recovers by itself when PostgreSQL is killed, and loses no money', () =>
    announceSeed(async (seed) => {
      const storm = await stormUntilSomeAnswers(seededRandom(seed), `killed ${seed}`);
      process.kill(databaseProcessesOf(testEnv.gateway.pid).postmaster, 'SIGKILL');
      const outcomes = (await storm.outcomes).map(({ outcome }) => outcome);
      expectClearAnswers(outcomes);
      await eventually(
        'a request succeeds again',
        async () => {
          const outcome = await ask(testEnv.gateway, { prompt: 'Hello', stream: true });
          return outcome.kind === 'finished' ? true : undefined;
        },
        { pollMs: 200 },
      );
      await expectAllSlotsFree();
      await expectClosedBooks(testEnv.pool);
      await expectChargedAsTold(testEnv.pool, outcomes);
    }));

  it('refuses clearly while PostgreSQL is frozen, and leaves neither hold nor slot behind', () =>
    announceSeed(async (seed) => {
      const storm = await stormUntilSomeAnswers(seededRandom(seed), `frozen ${seed}`);
      const thaw = freezeDatabaseOf(testEnv.gateway.pid);
      const outcomes: Outcome[] = [];
      try {
        const late = startStorm(testEnv.gateway, seededRandom(seed + 1), {
          requests: REQUESTS,
          name: `late ${seed}`,
        });
        // Every caller has its answer before anything moves again.
        for (const one of [storm, late]) {
          outcomes.push(...(await one.outcomes).map(({ outcome }) => outcome));
        }
        expect(outcomes.some(({ kind }) => kind === 'failed')).toBe(true);
        expectClearAnswers(outcomes, ['no_capacity', 'rpm_exceeded']);
      } finally {
        thaw();
      }
      await expectAllSlotsFree();
      await expectClosedBooks(testEnv.pool);
      await expectChargedAsTold(testEnv.pool, outcomes);
      expect(await claimsChargedTwice(testEnv.pool)).toEqual([]);
    }));

  /** One request to each endpoint, with a key that is known and one that auth has to be asked about. */
  async function askEverywhere(): Promise<Seen[]> {
    const { baseUrl, apiKey } = testEnv.gateway;
    const body = JSON.stringify({
      model: 'demo/small',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    const requests = [
      '/models',
      '/credits',
      '/generation?id=gen-none',
      '/usage',
      '/chat/completions',
    ].flatMap((path) => [apiKey, `sk-gw-${randomUUID()}`].map((key) => ({ path, key })));
    return Promise.all(
      requests.map(async ({ path, key }) => {
        const response = await fetch(`${baseUrl}${path}`, {
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...(path === '/chat/completions' ? { method: 'POST', body } : {}),
        });
        const text = await response.text();
        return { path, status: response.status, retryAfter: response.headers.get('retry-after'), text };
      }),
    );
  }

  /** What it says must be true whatever of the database is left: the usual answer, or that it is to be tried again. */
  function expectTrueAnswers(seen: readonly Seen[]): void {
    const others = seen.filter(({ status }) => ![200, 401, 404, 503].includes(status));
    expect(others).toEqual([]);
    for (const { path, status, retryAfter, text } of seen) {
      if (status !== 503) continue;
      expect({ retryAfter, text }).toEqual({
        retryAfter: '10',
        text: expect.stringContaining('"no_capacity"'),
      });
      // Reading costs nothing, so there is nothing to reassure anybody about.
      expect(`${path}: ${text.includes('billed')}`).toBe(`${path}: ${path === '/chat/completions'}`);
    }
  }

  it('answers every path with 503 while PostgreSQL is frozen, and at once when it is not', async () => {
    const thaw = freezeDatabaseOf(testEnv.gateway.pid);
    try {
      // What the edge knows for a little while is answered from there.
      await eventually('nothing is answered from memory', async () => {
        const seen = await askEverywhere();
        expectTrueAnswers(seen);
        return seen.every(({ status }) => status === 503) ? true : undefined;
      });
    } finally {
      thaw();
    }
  });

  it('answers every path with 503 while PostgreSQL is killed and starts again', async () => {
    let refused = 0;
    for (let kills = 0; kills < 3; kills += 1) {
      process.kill(databaseProcessesOf(testEnv.gateway.pid).postmaster, 'SIGKILL');
      await eventually('every path answers again', async () => {
        const seen = await askEverywhere();
        expectTrueAnswers(seen);
        const away = seen.filter(({ status }) => status === 503).length;
        refused += away;
        return away === 0 ? true : undefined;
      });
    }
    expect(refused).toBeGreaterThan(0);
  });
});

interface Seen {
  readonly path: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}
