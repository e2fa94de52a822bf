import { randomUUID } from 'node:crypto';
import { databaseProcessesOf, freezeDatabaseOf } from '@gateway/dev-infra';
import { announceSeed, eventually, seededRandom, type SeededRandom } from '@gateway/test-support';
import { complete, type Outcome } from './testing/chat-completion';
import { claimsChargedTwice, expectExactCharges, expectEverythingSettled } from './testing/ledger-checks';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { limitConcurrency } from './testing/limit-concurrency';
import { startBurst, type RequestBurst } from './testing/request-burst';

jest.setTimeout(120_000);

const REQUESTS = 50;

describe('a gateway that loses its database under load', () => {
  let testEnv: CrashTestEnv;

  beforeAll(async () => {
    testEnv = await startCrashTestEnv();
    await limitConcurrency(testEnv.gateway, REQUESTS);
  });
  afterAll(() => testEnv?.close());

  async function burstUntilFirstResponses(random: SeededRandom, name: string): Promise<RequestBurst> {
    const burst = startBurst(testEnv.gateway, random, { requests: REQUESTS, name });
    const enough = random.integer(1, REQUESTS / 2);
    await eventually(`${enough} responses`, async () => (burst.finishedCount() >= enough ? true : undefined));
    return burst;
  }

  /** The gateway keeps running, so no client connection may be closed without a response. */
  function expectClearResponses(outcomes: readonly Outcome[], refusals = ['no_capacity']): void {
    const kinds = outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.code : outcome.kind));
    expect(kinds.filter((kind) => kind !== 'finished' && !refusals.includes(kind))).toEqual([]);
  }

  /** Each unreleased concurrency slot would reject one of these requests. */
  async function expectAllSlotsFree(): Promise<void> {
    const outcomes = await Promise.all(
      Array.from({ length: REQUESTS }, (_, index) =>
        complete(testEnv.gateway, { prompt: `[[delay:1500]] slot ${index}`, stream: false }),
      ),
    );
    expect(outcomes.filter(({ kind }) => kind !== 'finished')).toEqual([]);
  }

  it('recovers automatically when PostgreSQL is killed, and charges exactly', () =>
    announceSeed(async (seed) => {
      const burst = await burstUntilFirstResponses(seededRandom(seed), `killed ${seed}`);
      process.kill(databaseProcessesOf(testEnv.gateway.pid).postmaster, 'SIGKILL');
      const outcomes = (await burst.outcomes).map(({ outcome }) => outcome);
      expectClearResponses(outcomes);
      await eventually(
        'a request succeeds again',
        async () => {
          const outcome = await complete(testEnv.gateway, { prompt: 'Hello', stream: true });
          return outcome.kind === 'finished' ? true : undefined;
        },
        { pollMs: 200 },
      );
      await expectAllSlotsFree();
      await expectEverythingSettled(testEnv.pool);
      await expectExactCharges(testEnv.pool, outcomes);
    }));

  it('returns clear errors while PostgreSQL is frozen, and leaks no holds or slots', () =>
    announceSeed(async (seed) => {
      const burst = await burstUntilFirstResponses(seededRandom(seed), `frozen ${seed}`);
      const unfreeze = freezeDatabaseOf(testEnv.gateway.pid);
      const outcomes: Outcome[] = [];
      try {
        const late = startBurst(testEnv.gateway, seededRandom(seed + 1), {
          requests: REQUESTS,
          name: `late ${seed}`,
        });
        // Every client has a response before PostgreSQL resumes.
        for (const one of [burst, late]) {
          outcomes.push(...(await one.outcomes).map(({ outcome }) => outcome));
        }
        expect(outcomes.some(({ kind }) => kind === 'failed')).toBe(true);
        expectClearResponses(outcomes, ['no_capacity', 'rpm_exceeded']);
      } finally {
        unfreeze();
      }
      await expectAllSlotsFree();
      await expectEverythingSettled(testEnv.pool);
      await expectExactCharges(testEnv.pool, outcomes);
      expect(await claimsChargedTwice(testEnv.pool)).toEqual([]);
    }));

  /** One request to each endpoint, with a cached key and with an unknown key. */
  async function requestEveryPath(): Promise<PathResponse[]> {
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

  /** Each response must be either the normal one or a retryable error. */
  function expectNormalOrRetryable(seen: readonly PathResponse[]): void {
    const others = seen.filter(({ status }) => ![200, 401, 404, 503].includes(status));
    expect(others).toEqual([]);
    for (const { path, status, retryAfter, text } of seen) {
      if (status !== 503) continue;
      expect({ retryAfter, text }).toEqual({
        retryAfter: '10',
        text: expect.stringContaining('"no_capacity"'),
      });
      // Only a completion's error says that nothing was billed.
      expect(`${path}: ${text.includes('billed')}`).toBe(`${path}: ${path === '/chat/completions'}`);
    }
  }

  it('returns 503 from every path while PostgreSQL is frozen', async () => {
    const unfreeze = freezeDatabaseOf(testEnv.gateway.pid);
    try {
      // The edge's short-lived caches must expire first.
      await eventually('no response comes from a cache', async () => {
        const seen = await requestEveryPath();
        expectNormalOrRetryable(seen);
        return seen.every(({ status }) => status === 503) ? true : undefined;
      });
    } finally {
      unfreeze();
    }
  });

  it('returns 503 from every path while PostgreSQL restarts after a kill', async () => {
    let refused = 0;
    for (let kills = 0; kills < 3; kills += 1) {
      process.kill(databaseProcessesOf(testEnv.gateway.pid).postmaster, 'SIGKILL');
      await eventually('every path has recovered', async () => {
        const seen = await requestEveryPath();
        expectNormalOrRetryable(seen);
        const unavailable = seen.filter(({ status }) => status === 503).length;
        refused += unavailable;
        return unavailable === 0 ? true : undefined;
      });
    }
    expect(refused).toBeGreaterThan(0);
  });
});

interface PathResponse {
  readonly path: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}
