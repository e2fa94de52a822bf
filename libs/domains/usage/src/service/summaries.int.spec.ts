import { DAY_MS, HOUR_MS } from '@gateway/base';
import { GenerationReportsDefinition } from '@gateway/contracts/generation-query';
import { applyMigrations, createPool } from '@gateway/database';
import type { EventHandler } from '@gateway/events';
import { createClient, type RpcClient } from '@gateway/rpc';
import { createMetrics } from '@gateway/runtime';
import { createTestClock, createTestDatabase, inProcessFor, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import {
  createGenerationQueryModule,
  createPostgresRefusalStore,
  createPostgresSettlementStore,
  createPostgresUsageReader,
  createPostgresUsageReconciler,
  createUsageAggregatorModule,
  USAGE_SCHEMA,
  usageSchema,
} from '../index';
import { logged, NOON, settled, type Settled } from '../testing/settled-events';

describe('summaries of the last 30 days', () => {
  let database: TestDatabase;
  let pool: Pool;
  let handle: EventHandler;
  let reports: RpcClient<typeof GenerationReportsDefinition>;
  let created = 0;
  const nowUnixMs = BigInt(NOON);

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({
      url: database.url,
      schema: USAGE_SCHEMA,
      applicationName: 'test',
      maxConnections: 4,
    });
    await applyMigrations(pool, usageSchema);
    const { services } = createGenerationQueryModule({ reader: createPostgresUsageReader(pool) });
    reports = createClient(GenerationReportsDefinition, inProcessFor(services));
    const clock = createTestClock(NOON);
    const aggregator = createUsageAggregatorModule({
      store: createPostgresSettlementStore(pool),
      refusals: createPostgresRefusalStore(pool),
      reconciler: createPostgresUsageReconciler({ pool, clock }),
      clock,
      metrics: createMetrics({ processMetrics: false }),
    });
    handle = aggregator.consumers[0]!.handle;
  });
  beforeEach(() => pool.query('truncate generations, usage_rollups, usage_rollups_hourly'));
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const at = (unixMs: number, more: Settled = {}) =>
    logged(settled({ generationId: `gen-${(created += 1)}`, createdUnixMs: BigInt(unixMs), ...more }));
  const noMargin = { chargedNanoUsd: 0n, providerCostNanoUsd: 0n };
  const failed = { errorCode: 'upstream_error' };
  const summary = () => reports.getUsageSummary({ organizationId: 'org-1', nowUnixMs });

  it('compare with as much of the 30 days before', async () => {
    const midnight = NOON - 12 * HOUR_MS;
    await handle([
      at(NOON, { cost: 1n }),
      at(midnight - 29 * DAY_MS, { cost: 20n, ...failed }),
      // 30 days ago: until the end of this hour, and later.
      at(NOON - 30 * DAY_MS + HOUR_MS - 1, { cost: 300n }),
      at(NOON - 30 * DAY_MS + HOUR_MS, { cost: 4_000n }),
      at(midnight - 59 * DAY_MS, { cost: 50_000n, ...failed }),
      at(midnight - 59 * DAY_MS - 1, { cost: 600_000n }),
      at(NOON, { cost: 7_000_000n, organizationId: 'org-2' }),
    ]);
    expect(await summary()).toMatchObject({
      current: { requests: 2n, errors: 1n, chargedNanoUsd: 21n },
      previous: { requests: 2n, errors: 1n, chargedNanoUsd: 50_300n },
    });
  });

  it('sum the charges of exactly seven days', async () => {
    await handle([
      at(NOON, { cost: 1n }),
      at(NOON + HOUR_MS - 7 * DAY_MS, { cost: 20n }),
      at(NOON + HOUR_MS - 7 * DAY_MS - 1, { cost: 300n }),
    ]);
    expect((await summary()).chargedLast7DaysNanoUsd).toBe(21n);
  });

  it('name the five keys with the highest charges, also of days past', async () => {
    await handle([
      ...[1, 2, 3, 4, 5, 6].map((key) => at(NOON, { keyId: `key-${key}`, cost: BigInt(key) })),
      at(NOON - DAY_MS, { keyId: 'key-1', cost: 100n, ...failed }),
      at(NOON - 31 * DAY_MS, { keyId: 'key-2', cost: 1_000n }),
      at(NOON, { keyId: 'key-free', cost: 0n }),
    ]);
    const { topKeys } = await summary();
    expect(topKeys.map(({ keyId }) => keyId)).toEqual(['key-1', 'key-6', 'key-5', 'key-4', 'key-3']);
    expect(topKeys[0]?.totals).toEqual({ requests: 2n, errors: 1n, chargedNanoUsd: 101n });
  });

  it('are empty without usage', async () => {
    const none = { requests: 0n, errors: 0n, chargedNanoUsd: 0n };
    const nothing = { current: none, previous: none, chargedLast7DaysNanoUsd: 0n, topKeys: [] };
    expect(await summary()).toEqual(nothing);
  });

  it('of organizations are in the requested order, with the last use however old', async () => {
    await handle([
      at(NOON, { organizationId: 'org-2', cost: 20n, ...failed }),
      at(NOON - 90 * DAY_MS, { cost: 1n }),
    ]);
    const organizationIds = ['org-2', 'org-none', 'org-1'];
    expect((await reports.listOrganizationUsage({ organizationIds, nowUnixMs })).organizations).toEqual([
      {
        organizationId: 'org-2',
        totals: { requests: 1n, errors: 1n, chargedNanoUsd: 20n },
        margin: noMargin,
        lastUsedUnixMs: BigInt(NOON),
      },
      {
        organizationId: 'org-none',
        totals: { requests: 0n, errors: 0n, chargedNanoUsd: 0n },
        margin: noMargin,
        lastUsedUnixMs: undefined,
      },
      {
        organizationId: 'org-1',
        totals: { requests: 0n, errors: 0n, chargedNanoUsd: 0n },
        margin: noMargin,
        lastUsedUnixMs: BigInt(NOON - 90 * DAY_MS),
      },
    ]);
    const tooMany = Array.from({ length: 201 }, (_, index) => `org-${index}`);
    await expect(
      reports.listOrganizationUsage({ organizationIds: tooMany, nowUnixMs }),
    ).rejects.toMatchObject({ code: 'invalid_request', param: 'organization_ids' });
  });

  it('of models count who used them within the last 30 days', async () => {
    await handle([
      at(NOON, { modelId: 'acme/m', keyId: 'key-1' }),
      at(NOON - DAY_MS, { modelId: 'acme/m', keyId: 'key-1' }),
      at(NOON, { modelId: 'acme/m', keyId: 'key-2' }),
      at(NOON, { modelId: 'acme/m', organizationId: 'org-2', keyId: 'key-3' }),
      at(NOON - 31 * DAY_MS, { modelId: 'acme/old' }),
      at(NOON, { modelId: 'acme/other' }),
    ]);
    const modelIds = ['acme/m', 'acme/old', 'acme/none'];
    expect((await reports.listModelUse({ modelIds, nowUnixMs })).models).toEqual([
      { modelId: 'acme/m', organizations: 2n, keys: 3n, requests: 4n },
    ]);
    const tooMany = Array.from({ length: 201 }, (_, index) => `acme/${index}`);
    await expect(reports.listModelUse({ modelIds: tooMany, nowUnixMs })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'model_ids',
    });
  });

  it('of the platform add up all organizations', async () => {
    await handle([
      at(NOON, { cost: 1n }),
      at(NOON, { organizationId: 'org-2', cost: 20n, ...failed }),
      at(NOON - DAY_MS, { organizationId: 'org-2', cost: 300n }),
      at(NOON - 30 * DAY_MS, { cost: 4_000n }),
    ]);
    expect(await reports.getPlatformUsage({ nowUnixMs })).toEqual({
      today: { requests: 2n, errors: 1n, chargedNanoUsd: 21n },
      last30Days: { requests: 3n, errors: 1n, chargedNanoUsd: 321n },
      margin: noMargin,
    });
  });

  describe('the margin', () => {
    const known = [
      at(NOON, { cost: 100n, providerCostNanoUsd: 60n }),
      // Uncollected: the balance did not cover the cost.
      at(NOON, { cost: 1_000n, charged: 500n, providerCostNanoUsd: 700n, keyId: 'key-2' }),
      at(NOON - DAY_MS, { cost: 20_000n, providerCostNanoUsd: 0n, modelId: 'acme/free' }),
      at(NOON, { organizationId: 'org-2', cost: 3n, providerCostNanoUsd: 5n }),
    ];
    const unknown = [
      at(NOON, { cost: 4_000_000n }),
      at(NOON, { organizationId: 'org-3', cost: 50_000_000n }),
      // Before the last 30 days.
      at(NOON - 30 * DAY_MS, { cost: 600_000_000n, providerCostNanoUsd: 700_000_000n }),
    ];
    const organizationIds = ['org-1', 'org-2', 'org-3'];
    const expectMargins = async () => {
      const { organizations } = await reports.listOrganizationUsage({ organizationIds, nowUnixMs });
      expect(organizations.map(({ margin }) => margin)).toEqual([
        { chargedNanoUsd: 20_600n, providerCostNanoUsd: 760n },
        { chargedNanoUsd: 3n, providerCostNanoUsd: 5n },
        { chargedNanoUsd: 0n, providerCostNanoUsd: 0n },
      ]);
      expect(await reports.getPlatformUsage({ nowUnixMs })).toMatchObject({
        last30Days: { requests: 6n, chargedNanoUsd: 54_020_603n },
        margin: { chargedNanoUsd: 20_603n, providerCostNanoUsd: 765n },
      });
    };

    it('covers the generations whose provider cost is known, to the nano-dollar', async () => {
      await handle([...known, ...unknown]);
      await expectMargins();
    });

    it('counts each generation once, when its event is delivered again or twice in a batch', async () => {
      await handle([...known, ...known, ...unknown]);
      await handle([...unknown, ...known]);
      await expectMargins();
    });

    it('is the same in the sums by hour', async () => {
      await handle([...known, ...unknown]);
      const sums = (table: string) =>
        pool.query(
          `select organization_id, model_id, key_id, sum(provider_cost_nano_usd) as cost,
             sum(charged_with_provider_cost_nano_usd) as charged
           from ${table} group by 1, 2, 3 order by 1, 2, 3`,
        );
      const { rows } = await sums('usage_rollups_hourly');
      expect(rows).toHaveLength(5);
      expect(rows).toEqual((await sums('usage_rollups')).rows);
    });
  });
});
