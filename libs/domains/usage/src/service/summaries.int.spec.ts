import { usd } from '@gateway/admin-calls';
import { DAY_MS, HOUR_MS, utcDay, type UnixMs } from '@gateway/base';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { logged, NOON, settled, type Settled } from '../testing/settled-events';
import { createUsageUnderTest, type UsageUnderTest } from '../testing/usage-under-test';

describe('summaries of the last 30 days', () => {
  let created = 0;
  let usageUnderTest: UsageUnderTest;
  let { pool, handle, admin } = {} as UsageUnderTest;

  beforeAll(async () => {
    usageUnderTest = await createUsageUnderTest();
    ({ pool, handle, admin } = usageUnderTest);
  });
  beforeEach(() => usageUnderTest.clear());
  afterAll(() => usageUnderTest.close());

  const at = (unixMs: number, more: Settled = {}) =>
    logged(settled({ generationId: `gen-${(created += 1)}`, createdUnixMs: BigInt(unixMs), ...more }));
  const failed = { errorCode: 'upstream_error' };
  const params = { organization_id: 'org-1' };
  const summary = () => admin.call(endpoints.usage.summary, { params });
  const platformUsage = () => admin.call(endpoints.operator.platformUsage);
  const usageOf = async (organization_ids: string[]) =>
    (await admin.call(parts.organizationUsage, { query: { organization_ids } })).data;
  const useOf = async (model_ids: string[]) =>
    (await admin.call(parts.modelUse, { query: { model_ids } })).data;

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
      current: { requests: 2, errors: 1, spend_usd: usd(21n) },
      previous: { requests: 2, errors: 1, spend_usd: usd(50_300n) },
    });
  });

  it('sum the charges of exactly seven days', async () => {
    await handle([
      at(NOON, { cost: 1n }),
      at(NOON + HOUR_MS - 7 * DAY_MS, { cost: 20n }),
      at(NOON + HOUR_MS - 7 * DAY_MS - 1, { cost: 300n }),
    ]);
    expect((await summary()).spend_last_7_days_usd).toBe(usd(21n));
  });

  it('name the five keys with the highest charges, also of days past', async () => {
    await handle([
      ...[1, 2, 3, 4, 5, 6].map((key) => at(NOON, { keyId: `key-${key}`, cost: BigInt(key) })),
      at(NOON - DAY_MS, { keyId: 'key-1', cost: 100n, ...failed }),
      at(NOON - 31 * DAY_MS, { keyId: 'key-2', cost: 1_000n }),
      at(NOON, { keyId: 'key-free', cost: 0n }),
    ]);
    const { top_keys: topKeys } = await summary();
    expect(topKeys.map((key) => key.key_id)).toEqual(['key-1', 'key-6', 'key-5', 'key-4', 'key-3']);
    expect(topKeys[0]).toEqual({ key_id: 'key-1', requests: 2, errors: 1, spend_usd: usd(101n) });
  });

  it('are empty without usage', async () => {
    const none = { requests: 0, errors: 0, spend_usd: usd(0n) };
    const nothing = { current: none, previous: none, spend_last_7_days_usd: '0', top_keys: [] };
    expect(await summary()).toEqual(nothing);
  });

  it('of organizations are in the requested order, with the last use however old', async () => {
    await handle([
      at(NOON, { organizationId: 'org-2', cost: 20n, ...failed }),
      at(NOON - 90 * DAY_MS, { cost: 1n }),
    ]);
    const none = { requests: 0, errors: 0, spend_usd: '0' };
    expect(await usageOf(['org-2', 'org-none', 'org-1'])).toEqual([
      {
        last_30_days: { requests: 1, errors: 1, spend_usd: usd(20n) },
        margin: null,
        last_used_at: new Date(NOON).toISOString(),
      },
      { last_30_days: none, margin: null, last_used_at: null },
      { last_30_days: none, margin: null, last_used_at: new Date(NOON - 90 * DAY_MS).toISOString() },
    ]);
    const tooMany = Array.from({ length: 201 }, (_, index) => `org-${index}`);
    await expect(usageOf(tooMany)).rejects.toMatchObject({ code: 'invalid', param: 'organization_ids' });
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
    expect(await useOf(['acme/m', 'acme/old', 'acme/none'])).toEqual([
      { model: 'acme/m', organizations: 2, keys: 3, requests: 4 },
    ]);
    const tooMany = Array.from({ length: 201 }, (_, index) => `acme/${index}`);
    await expect(useOf(tooMany)).rejects.toMatchObject({ code: 'invalid', param: 'model_ids' });
  });

  it('of the platform add up all organizations', async () => {
    await handle([
      at(NOON, { cost: 1n }),
      at(NOON, { organizationId: 'org-2', cost: 20n, ...failed }),
      at(NOON - DAY_MS, { organizationId: 'org-2', cost: 300n, provider: 'other' }),
      at(NOON - 30 * DAY_MS, { cost: 4_000n }),
    ]);
    expect(await platformUsage()).toEqual({
      today: { requests: 2, errors: 1, spend_usd: usd(21n) },
      last_30_days: { requests: 3, errors: 1, spend_usd: usd(321n) },
      margin: null,
      days: [
        { day: utcDay(NOON as UnixMs), requests: 2, errors: 1, spend_usd: usd(21n), margin: null },
        {
          ...{ day: utcDay((NOON - DAY_MS) as UnixMs), requests: 1, errors: 0 },
          ...{ spend_usd: usd(300n), margin: null },
        },
      ],
      models: [{ model_id: 'acme/m-1', requests: 3, errors: 1, spend_usd: usd(321n), margin: null }],
      providers: [
        { provider: 'other', requests: 1, errors: 0, spend_usd: usd(300n), margin: null },
        { provider: 'acme', requests: 2, errors: 1, spend_usd: usd(21n), margin: null },
      ],
    });
  });

  describe('the margin', () => {
    const known = [
      at(NOON, { cost: 100n, providerCostNanoUsd: 60n }),
      // Uncollected: the balance did not cover the cost.
      at(NOON, { cost: 1_000n, charged: 500n, providerCostNanoUsd: 700n, keyId: 'key-2' }),
      at(NOON - DAY_MS, { cost: 20_000n, providerCostNanoUsd: 0n, modelId: 'acme/free' }),
      at(NOON, { organizationId: 'org-2', cost: 3n, providerCostNanoUsd: 5n, provider: 'other' }),
    ];
    const unknown = [
      at(NOON, { cost: 4_000_000n }),
      at(NOON, { organizationId: 'org-3', cost: 50_000_000n, provider: '' }),
      // Before the last 30 days.
      at(NOON - 30 * DAY_MS, { cost: 600_000_000n, providerCostNanoUsd: 700_000_000n }),
    ];
    const expectMargins = async () => {
      const organizations = await usageOf(['org-1', 'org-2', 'org-3']);
      expect(organizations.map(({ margin }) => margin)).toEqual([
        { spend_usd: usd(20_600n), provider_cost_usd: usd(760n), margin_usd: usd(19_840n) },
        { spend_usd: usd(3n), provider_cost_usd: usd(5n), margin_usd: usd(-2n) },
        null,
      ]);
      expect(await platformUsage()).toMatchObject({
        last_30_days: { requests: 6, spend_usd: usd(54_020_603n) },
        margin: { spend_usd: usd(20_603n), provider_cost_usd: usd(765n) },
        providers: [
          { provider: null, requests: 1, spend_usd: usd(50_000_000n), margin: null },
          {
            ...{ provider: 'acme', requests: 4, spend_usd: usd(4_020_600n) },
            margin: { spend_usd: usd(20_600n), provider_cost_usd: usd(760n), margin_usd: usd(19_840n) },
          },
          {
            ...{ provider: 'other', requests: 1, spend_usd: usd(3n) },
            margin: { spend_usd: usd(3n), provider_cost_usd: usd(5n), margin_usd: usd(-2n) },
          },
        ],
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
