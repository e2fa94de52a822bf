import { nanoUsd, type UnixMs } from '@gateway/base';
import { applyMigrations, createPool } from '@gateway/database';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import type { StoredGeneration } from '../../core/settled-generation';
import { createPostgresSettlementStore } from './settlement-store';
import { USAGE_SCHEMA, usageSchema } from './sql/schema';

let database: TestDatabase;
let pool: Pool;

const at = (month: number, day: number, hour: number) =>
  Date.UTC(2026, month - 1, day, hour, 59, 59, 999) as UnixMs;

function generation(id: string, createdAt: UnixMs): StoredGeneration {
  return {
    id,
    organizationId: 'org-1',
    keyId: 'key-1',
    requestId: 'req-1',
    modelId: 'acme/m',
    provider: 'acme',
    providerModel: 'm',
    createdAt,
    settledAt: createdAt,
    streamed: true,
    cancelled: false,
    finishReason: 'stop',
    usage: {
      promptTokens: 10,
      cachedTokens: 1,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: 2,
      completionTokens: 20,
      reasoningTokens: 5,
    },
    usageSource: 'provider',
    costNanoUsd: nanoUsd(7n),
    chargedNanoUsd: nanoUsd(7n),
    latencyMs: 300,
    generationTimeMs: 900,
    apiType: 'completions',
    externalUser: undefined,
    tags: [],
    runId: undefined,
    projectId: '',
    errorCode: undefined,
    timeToFirstTokenMs: undefined,
    attempts: undefined,
    prices: undefined,
    providerCostNanoUsd: undefined,
  };
}

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: USAGE_SCHEMA, applicationName: 'test', maxConnections: 4 });
  await applyMigrations(pool, usageSchema);
  const store = createPostgresSettlementStore(pool);
  await store.prepare(at(9, 1, 0));
  await store.record([
    generation('gen-1', at(9, 30, 23)),
    generation('gen-2', at(10, 1, 0)),
    generation('gen-3', at(10, 1, 0)),
    generation('gen-4', 0 as UnixMs),
  ]);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('the monthly partitions', () => {
  const now = Date.UTC(2027, 0, 31) as UnixMs;
  const months = async () =>
    (
      await pool.query<{ name: string }>(
        `select relname as name from pg_class where relname ~ '^generations_until_\\d+$' order by 1`,
      )
    ).rows.map(({ name }) => name);

  it('hold the generations of their month; the default partition holds all others', async () => {
    const { rows } = await pool.query<{ part: string; id: string }>(
      'select tableoid::regclass::text as part, id from generations order by id',
    );
    expect(rows).toEqual([
      { part: 'generations_until_20261001', id: 'gen-1' },
      { part: 'generations_until_20261101', id: 'gen-2' },
      { part: 'generations_until_20261101', id: 'gen-3' },
      { part: 'generations_default', id: 'gen-4' },
    ]);
  });

  it('are created for this month and the next, also concurrently', async () => {
    const store = createPostgresSettlementStore(pool);
    await Promise.all([store.prepare(now), store.prepare(now)]);
    expect(await months()).toEqual(
      expect.arrayContaining(['generations_until_20270201', 'generations_until_20270301']),
    );
  });

  it('receive earlier rows from the default partition', async () => {
    const store = createPostgresSettlementStore(pool);
    await store.record([generation('gen-5', Date.UTC(2027, 3, 1) as UnixMs)]);
    await store.prepare(Date.UTC(2027, 3, 30) as UnixMs);
    const { rows } = await pool.query<{ part: string }>(
      `select tableoid::regclass::text as part from generations where id = 'gen-5'`,
    );
    expect(rows).toEqual([{ part: 'generations_until_20270501' }]);
  });

  it('are dropped once all of their generations are old enough, and the sums stay', async () => {
    const store = createPostgresSettlementStore(pool);
    expect(await store.dropBefore((Date.UTC(2026, 10, 1) - 1) as UnixMs)).toBe(1);
    expect(await months()).not.toContain('generations_until_20261001');
    expect(await months()).toContain('generations_until_20261101');
    const { rows } = await pool.query<{ id: string }>('select id from generations order by id');
    expect(rows.map(({ id }) => id)).toEqual(['gen-2', 'gen-3', 'gen-5']);
    const sums = await pool.query<{ requests: bigint }>(
      'select sum(requests)::bigint as requests from usage_rollups_hourly',
    );
    expect(sums.rows[0]?.requests).toBe(5n);
  });
});
