import { LimitScope, LimitType, RateLimitDefinition, type Admission } from '@gateway/contracts/rate-limit';
import { createClient, createInProcessTransport } from '@gateway/rpc';
import { createMetrics, systemClock } from '@gateway/runtime';
import type { LimitStore } from '../core';
import { createMemoryLimitStore } from '../adapters/memory/memory-limit-store';
import { createRateLimitModule } from './module';

const SLOT_LEASE_MS = 30_000;

function setUp() {
  const metrics = createMetrics({ processMetrics: false });
  // A fixed clock, so that no test crosses the end of a minute.
  const now = systemClock.now();
  const store = createMemoryLimitStore({ clock: { now: () => now }, slotLeaseMs: SLOT_LEASE_MS });
  const module = createRateLimitModule({ store, metrics });
  const client = createClient(RateLimitDefinition, createInProcessTransport(module.services));
  return { metrics, store, client };
}

function admission(admissionId: string, rest: Partial<Admission> = {}): Admission {
  return {
    admissionId,
    organizationId: 'org-1',
    keyId: 'key-1',
    tokens: 10,
    organizationLimits: undefined,
    keyLimits: undefined,
    ...rest,
  };
}

describe('the rate-limit service', () => {
  it('returns one result per admission in order, with the limit that refused it', async () => {
    const { client } = setUp();
    const organizationLimits = { requestsPerMinute: 100, tokensPerMinute: 1_000, concurrency: undefined };
    const keyLimits = { requestsPerMinute: undefined, tokensPerMinute: undefined, concurrency: 1 };
    const { results } = await client.admit({
      admissions: [
        admission('gen-1', { organizationLimits, keyLimits }),
        admission('gen-2', { organizationLimits, keyLimits }),
        admission('gen-3', { organizationLimits, keyId: 'key-2' }),
      ],
    });
    expect(results.map(({ outcome }) => outcome)).toEqual([
      { $case: 'admitted', value: { slotLeaseMs: SLOT_LEASE_MS, hasRoom: false } },
      {
        $case: 'refused',
        value: {
          limitType: LimitType.LIMIT_TYPE_CONCURRENCY,
          scope: LimitScope.LIMIT_SCOPE_KEY,
          limit: 1,
          retryAfterMs: 1_000,
        },
      },
      { $case: 'admitted', value: { slotLeaseMs: SLOT_LEASE_MS, hasRoom: true } },
    ]);
    expect(results[2]?.requests).toMatchObject({ limit: 100, remaining: 98 });
    expect(results[2]?.tokens).toMatchObject({ limit: 1_000, remaining: 980 });
  });

  it('applies no limit and returns no window where none is set', async () => {
    const { client } = setUp();
    const admissions = Array.from({ length: 500 }, (_, index) => admission(`gen-${index}`));
    const { results } = await client.admit({ admissions });
    expect(results).toHaveLength(500);
    for (const result of results) {
      expect(result).toMatchObject({
        outcome: { $case: 'admitted' },
        requests: undefined,
        tokens: undefined,
      });
    }
  });

  it('releases returned admissions and corrects used tokens', async () => {
    const { client } = setUp();
    const keyLimits = { requestsPerMinute: 3, tokensPerMinute: 100, concurrency: 2 };
    const request = (id: string, tokens: number) => admission(id, { keyLimits, tokens });
    await client.admit({ admissions: [request('gen-1', 60), request('gen-2', 40)] });
    const ids = { organizationId: 'org-1', keyId: 'key-1' };
    await client.finish({
      admissions: [
        { ...ids, admissionId: 'gen-1', outcome: { $case: 'returned', value: {} } },
        { ...ids, admissionId: 'gen-2', outcome: { $case: 'used', value: { tokens: 15 } } },
      ],
    });
    const { results } = await client.admit({ admissions: [request('gen-3', 85)] });
    expect(results[0]).toMatchObject({
      outcome: { $case: 'admitted' },
      requests: { limit: 3, remaining: 1 },
      tokens: { limit: 100, remaining: 0 },
    });
  });

  it('renews slots', async () => {
    const { client, store } = setUp();
    await client.admit({ admissions: [admission('gen-1')] });
    await client.renewSlots({ slots: [{ admissionId: 'gen-1', organizationId: 'org-1', keyId: 'key-1' }] });
    expect(store.size().admissions).toBe(1);
  });

  it('counts every decision by its outcome', async () => {
    const { client, metrics } = setUp();
    const refused = admission('gen-2', {
      keyLimits: { requestsPerMinute: 0, tokensPerMinute: undefined, concurrency: undefined },
    });
    await client.admit({ admissions: [admission('gen-1'), refused] });
    const text = await metrics.metrics();
    expect(text).toContain('gateway_rate_limit_decisions_total{outcome="admitted",scope=""} 1');
    expect(text).toContain('gateway_rate_limit_decisions_total{outcome="requests",scope="key"} 1');
  });

  it('reports and counts undecided admissions', async () => {
    const metrics = createMetrics({ processMetrics: false });
    const silent: LimitStore = {
      admit: async (admissions) => admissions.map(() => ({ kind: 'undecided' })),
      finish: async () => undefined,
      renewSlots: async () => undefined,
    };
    const { services } = createRateLimitModule({ store: silent, metrics });
    const client = createClient(RateLimitDefinition, createInProcessTransport(services));
    const { results } = await client.admit({ admissions: [admission('gen-1')] });
    expect(results.map(({ outcome }) => outcome?.$case)).toEqual(['undecided']);
    expect(await metrics.metrics()).toContain(
      'gateway_rate_limit_decisions_total{outcome="undecided",scope=""} 1',
    );
  });

  it('rejects a malformed call as a whole, without reserving anything', async () => {
    const { client, store } = setUp();
    await expect(
      client.admit({ admissions: [admission('gen-1'), admission('gen-2', { keyId: '' })] }),
    ).rejects.toMatchObject({ code: 'internal_error' });
    await expect(
      client.finish({
        admissions: [{ admissionId: 'gen-1', organizationId: 'org-1', keyId: 'key-1', outcome: undefined }],
      }),
    ).rejects.toMatchObject({ code: 'internal_error' });
    const tooMany = Array.from({ length: 10_001 }, (_, index) => admission(`gen-${index}`));
    await expect(client.admit({ admissions: tooMany })).rejects.toMatchObject({ code: 'internal_error' });
    expect(store.size()).toEqual({ counters: 0, admissions: 0 });
  });
});
