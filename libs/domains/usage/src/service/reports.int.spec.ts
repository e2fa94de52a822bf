import { HOUR_MS } from '@gateway/base';
import {
  GenerationReportsDefinition,
  GenerationStatus,
  UsageDimension,
  UsageGranularity,
  ListGenerationsRequest,
} from '@gateway/contracts/generation-query';
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

const {
  USAGE_DIMENSION_MODEL: MODEL,
  USAGE_DIMENSION_API_KEY: KEY,
  USAGE_DIMENSION_PROJECT: PROJECT,
} = UsageDimension;
const { USAGE_GRANULARITY_HOUR: HOUR, USAGE_GRANULARITY_DAY: DAY } = UsageGranularity;

let database: TestDatabase;
let pool: Pool;
let handle: EventHandler;
let reports: RpcClient<typeof GenerationReportsDefinition>;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: USAGE_SCHEMA, applicationName: 'test', maxConnections: 4 });
  await applyMigrations(pool, usageSchema);
  const { services } = createGenerationQueryModule({ reader: createPostgresUsageReader(pool) });
  reports = createClient(GenerationReportsDefinition, inProcessFor(services));
});

beforeEach(async () => {
  await pool.query('truncate generations, usage_rollups, usage_rollups_hourly');
  const metrics = createMetrics({ processMetrics: false });
  const store = createPostgresSettlementStore(pool);
  const refusals = createPostgresRefusalStore(pool);
  const clock = createTestClock(NOON);
  const reconciler = createPostgresUsageReconciler({ pool, clock });
  const aggregator = createUsageAggregatorModule({ store, refusals, reconciler, clock, metrics });
  handle = aggregator.consumers[0]!.handle;
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

const record = (...events: Settled[]) => handle(events.map((each) => logged(settled(each))));
const list = (more: Partial<ListGenerationsRequest> = {}) =>
  reports.listGenerations(
    ListGenerationsRequest.fromPartial({ organizationId: 'org-1', pageSize: 50, ...more }),
  );
const idsOf = async (more: Partial<ListGenerationsRequest> = {}) =>
  (await list(more)).generations.map(({ generation }) => generation?.id);

describe('usage over time', () => {
  beforeEach(() =>
    record(
      {
        generationId: 'a',
        modelId: 'm1',
        keyId: 'k1',
        cost: 1n,
        streamed: true,
        timeToFirstTokenMs: 400,
        latencyMs: 350,
        generationTimeMs: 650,
      },
      {
        generationId: 'b',
        modelId: 'm1',
        keyId: 'k2',
        cost: 20n,
        charged: 15n,
        errorCode: 'upstream_error',
        latencyMs: 100,
        generationTimeMs: 0,
        createdUnixMs: BigInt(NOON + 1),
      },
      {
        generationId: 'c',
        modelId: 'm2',
        keyId: 'k1',
        cost: 300n,
        cancelled: true,
        finishReason: '',
        createdUnixMs: BigInt(NOON + HOUR_MS),
        tokens: [9, 1, 2, 2],
        written: [5, 3],
      },
      {
        generationId: 'd',
        modelId: 'm2',
        keyId: 'k1',
        cost: 4_000n,
        createdUnixMs: BigInt(NOON + 24 * HOUR_MS),
      },
      { generationId: 'e', organizationId: 'org-2', cost: 50_000n },
    ),
  );

  const series = (more: object = {}) =>
    reports.getUsageSeries({
      organizationId: 'org-1',
      startUnixMs: BigInt(NOON),
      endUnixMs: BigInt(NOON + 2 * HOUR_MS),
      granularity: HOUR,
      splitBy: [],
      ...more,
    });

  it('is grouped by UTC hour, with errors, cancellations, tokens by kind, cost and charge', async () => {
    const { points, totals, startUnixMs, endUnixMs } = await series({ startUnixMs: BigInt(NOON + 5) });
    expect([startUnixMs, endUnixMs]).toEqual([BigInt(NOON), BigInt(NOON + 2 * HOUR_MS)]);
    expect(points.map(({ startUnixMs: start, metrics }) => [start, metrics])).toEqual([
      [
        BigInt(NOON),
        expect.objectContaining({
          requests: 2n,
          errors: 1n,
          cancelled: 0n,
          costNanoUsd: 21n,
          chargedNanoUsd: 16n,
          promptTokens: 20n,
        }),
      ],
      [
        BigInt(NOON + HOUR_MS),
        expect.objectContaining({
          requests: 1n,
          errors: 0n,
          cancelled: 1n,
          cachedTokens: 1n,
          cacheWriteTokens: 5n,
          cacheWrite1hTokens: 3n,
          reasoningTokens: 2n,
        }),
      ],
    ]);
    expect(totals).toMatchObject({ requests: 3n, errors: 1n, cancelled: 1n, costNanoUsd: 321n });
    expect(totals).toMatchObject({ cachedTokens: 1n, cacheWriteTokens: 5n, cacheWrite1hTokens: 3n });
  });

  it('has the total duration of requests that did not fail, and the time to the first token of streamed requests', async () => {
    const { points } = await series({ modelId: 'm1' });
    expect(points).toHaveLength(1);
    // Without the failed one.
    expect(points[0]?.metrics?.duration?.meanMs).toBe(1_000);
    expect(points[0]?.metrics?.timeToFirstToken?.meanMs).toBe(400);
    expect(points[0]?.metrics?.timeToFirstToken?.p95Ms).toBeGreaterThan(250);
    expect(points[0]?.metrics?.timeToFirstToken?.p95Ms).toBeLessThanOrEqual(500);
    const { points: unstreamed } = await series({ modelId: 'm2' });
    expect(unstreamed[0]?.metrics?.timeToFirstToken).toBeUndefined();
  });

  it('is grouped by day, split by model and key, filtered by model or key', async () => {
    const { points } = await series({
      granularity: DAY,
      endUnixMs: BigInt(NOON + 24 * HOUR_MS),
      splitBy: [MODEL, KEY],
    });
    const midnight = BigInt(Date.UTC(2026, 10, 20));
    expect(
      points.map((point) => [point.startUnixMs, point.modelId, point.keyId, point.metrics?.costNanoUsd]),
    ).toEqual([
      [midnight, 'm1', 'k1', 1n],
      [midnight, 'm1', 'k2', 20n],
      [midnight, 'm2', 'k1', 300n],
      [midnight + 24n * BigInt(HOUR_MS), 'm2', 'k1', 4_000n],
    ]);
    const { totals } = await series({ granularity: DAY, keyId: 'k2' });
    expect(totals).toMatchObject({ requests: 1n, costNanoUsd: 20n });
  });

  it('is empty without usage', async () => {
    const { points, totals } = await series({ organizationId: 'org-3' });
    expect(points).toEqual([]);
    expect(totals).toMatchObject({ requests: 0n, duration: undefined });
  });

  it('is split by project, or filtered by one or by none', async () => {
    await record(
      { generationId: 'p1', modelId: 'm1', keyId: 'k1', projectId: 'proj-1', cost: 7n },
      { generationId: 'p2', modelId: 'm2', keyId: 'k1', projectId: 'proj-1', cost: 30n },
      { generationId: 'p3', modelId: 'm2', keyId: 'k1', projectId: 'proj-2', cost: 500n },
    );
    const query = { granularity: DAY, splitBy: [PROJECT] };
    const rows = async (more: object = {}) =>
      (await series({ ...query, ...more })).points.map(({ projectId, keyId, metrics }) => [
        projectId,
        keyId,
        metrics?.costNanoUsd,
      ]);
    expect(await rows()).toEqual([
      ['', undefined, 321n],
      ['proj-1', undefined, 37n],
      ['proj-2', undefined, 500n],
    ]);
    expect(await rows({ projectId: 'proj-1' })).toEqual([['proj-1', undefined, 37n]]);
    expect(await rows({ projectId: '' })).toEqual([['', undefined, 321n]]);
    const { totals } = await series({ projectId: 'proj-1', splitBy: [MODEL] });
    expect(totals).toMatchObject({ requests: 2n, costNanoUsd: 37n });
  });

  it.each([
    ['end', { endUnixMs: BigInt(NOON) }],
    ['start', { startUnixMs: BigInt(NOON - 40 * 24 * HOUR_MS) }],
    ['start', { startUnixMs: -1n }],
    ['split_by', { splitBy: [UsageDimension.USAGE_DIMENSION_DAY] }],
  ])('refuses an invalid %s', async (param, query) => {
    await expect(series(query)).rejects.toMatchObject({ code: 'invalid_request', param });
  });

  it("returns today's usage and the latest generation", async () => {
    const now = { nowUnixMs: BigInt(NOON + 2 * HOUR_MS) };
    expect(await reports.getUsageNow({ organizationId: 'org-1', ...now })).toEqual({
      requestsToday: 3n,
      chargedTodayNanoUsd: 316n,
      latestGenerationId: 'd',
    });
    expect(await reports.getUsageNow({ organizationId: 'org-3', ...now })).toMatchObject({
      requestsToday: 0n,
      latestGenerationId: undefined,
    });
  });
});

describe('the list of generations', () => {
  const many = Array.from({ length: 30 }, (_, index) => ({
    generationId: `gen-${String(index).padStart(2, '0')}`,
    requestId: `req-${index}`,
    // Three at a time share their millisecond.
    createdUnixMs: BigInt(NOON + Math.floor(index / 3)),
    modelId: index % 2 ? 'm1' : 'm2',
    keyId: index % 5 ? 'k1' : 'k2',
    cost: BigInt(index),
    ...(index % 10 === 0 ? { errorCode: 'upstream_error' } : {}),
    ...(index % 10 === 1 ? { cancelled: true } : {}),
    ...(index === 7 ? { externalUser: 'customer-7' } : {}),
  }));
  beforeEach(() => record(...many, { generationId: 'gen-x', requestId: 'req-x', organizationId: 'org-2' }));
  const expected = (keep: (each: (typeof many)[number], index: number) => boolean) =>
    many
      .filter(keep)
      .map(({ generationId }) => generationId)
      .reverse();

  it('lists every generation of the organization once, newest first, over all pages', async () => {
    const seen: (string | undefined)[] = [];
    let pageToken = '';
    do {
      const page = await list({ pageSize: 7, pageToken });
      seen.push(...page.generations.map(({ generation }) => generation?.id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toEqual(expected(() => true));
  });

  it.each([
    ['model', { modelId: 'm1' }, (_: unknown, index: number) => index % 2 === 1],
    ['key', { keyId: 'k2' }, (_: unknown, index: number) => index % 5 === 0],
    [
      'failed',
      { status: GenerationStatus.GENERATION_STATUS_FAILED },
      (_: unknown, index: number) => index % 10 === 0,
    ],
    [
      'cancelled',
      { status: GenerationStatus.GENERATION_STATUS_CANCELLED },
      (_: unknown, index: number) => index % 10 === 1,
    ],
    [
      'completed',
      { status: GenerationStatus.GENERATION_STATUS_COMPLETED },
      (_: unknown, index: number) => index % 10 > 1,
    ],
    [
      'cost',
      { minCostNanoUsd: 3n, maxCostNanoUsd: 9n },
      (_: unknown, index: number) => index >= 3 && index <= 9,
    ],
    [
      'time',
      { sinceUnixMs: BigInt(NOON + 1), untilUnixMs: BigInt(NOON + 3) },
      (_: unknown, index: number) => index >= 3 && index < 9,
    ],
    ['external user', { externalUser: 'customer-7' }, (_: unknown, index: number) => index === 7],
    ['model and key', { modelId: 'm2', keyId: 'k2' }, (_: unknown, index: number) => index % 10 === 0],
  ] as const)('can be of one %s', async (_name, filter, keep) => {
    expect(await idsOf(filter)).toEqual(expected(keep));
  });

  it.each([
    ['generation', 'gen-04', ['gen-04']],
    ['request', 'req-9', ['gen-09']],
    ['external user', 'customer-7', ['gen-07']],
    ['nothing', 'unknown', []],
    ['a part of an id', 'gen-', []],
    ['a foreign generation', 'gen-x', []],
    ['a foreign request', 'req-x', []],
  ])('is searched by the full id of a %s', async (_name, search, ids) => {
    expect(await idsOf({ search })).toEqual(ids);
  });

  it('refuses an invalid page token', async () => {
    await expect(list({ pageToken: 'nonsense' })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'page_token',
    });
  });

  it('returns one with all details', async () => {
    const prices = {
      inputNanoUsdPerMillion: 1n,
      cachedInputNanoUsdPerMillion: 2n,
      cacheWriteNanoUsdPerMillion: 6n,
      cacheWrite1hNanoUsdPerMillion: 7n,
      outputNanoUsdPerMillion: 3n,
      reasoningNanoUsdPerMillion: 4n,
      imageNanoUsdPerMillion: 5n,
      tiers: [
        {
          abovePromptTokens: 200_000,
          inputNanoUsdPerMillion: 10n,
          cachedInputNanoUsdPerMillion: 20n,
          cacheWriteNanoUsdPerMillion: 60n,
          cacheWrite1hNanoUsdPerMillion: 70n,
          outputNanoUsdPerMillion: 30n,
          reasoningNanoUsdPerMillion: 40n,
          imageNanoUsdPerMillion: 50n,
        },
      ],
    };
    const attempts = [
      {
        provider: 'acme',
        providerModel: 'm-1-0601',
        reason: 'order',
        outcome: 'timed_out',
        durationMs: 5_000,
      },
      { provider: 'other "one"', providerModel: 'm\\1', reason: 'order', outcome: 'ok', durationMs: 310 },
    ];
    await record({
      generationId: 'gen-detail',
      timeToFirstTokenMs: 0,
      attempts,
      prices,
      errorCode: 'upstream_error',
    });
    const { record: found } = await reports.getGenerationRecord({
      organizationId: 'org-1',
      generationId: 'gen-detail',
    });
    expect(found).toMatchObject({
      generation: { id: 'gen-detail', provider: 'acme' },
      status: GenerationStatus.GENERATION_STATUS_FAILED,
      providerModel: 'm-1-0601',
      settledUnixMs: BigInt(NOON + 100),
      timeToFirstTokenMs: 0,
      attempts,
      prices,
    });
    const foreign = await reports.getGenerationRecord({
      organizationId: 'org-2',
      generationId: 'gen-detail',
    });
    expect(foreign.record).toBeUndefined();
  });
});
