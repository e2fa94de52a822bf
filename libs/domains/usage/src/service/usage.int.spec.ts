import { createAdminClient, isoTime, usd } from '@gateway/admin-calls';
import { DAY_MS, type ConsumerProgress } from '@gateway/base';
import { UsageSource } from '@gateway/contracts/common';
import { GenerationSettled } from '@gateway/contracts/events';
import {
  type GenerationQueryDefinition,
  UsageDimension,
  type UsageRow,
} from '@gateway/contracts/generation-query';
import { parts } from '@gateway/dashboard-contract';
import { UnprocessableEventsError, type EventHandler, type LoggedEvent } from '@gateway/events';
import type { RpcClient } from '@gateway/rpc';
import type { Registry } from '@gateway/runtime';
import {
  announceSeed,
  createTestClock,
  inProcessFor,
  seededRandom,
  type SeededRandom,
} from '@gateway/test-support';
import type { ClientBase, Pool } from 'pg';
import { createGenerationQueryModule, createPostgresUsageReader } from '../index';
import { logged, NOON, rawEvent, settled, type Settled } from '../testing/settled-events';
import { createUsageDatabase, createUsageModules, type UsageDatabase } from '../testing/usage-under-test';

const {
  USAGE_DIMENSION_DAY: DAY,
  USAGE_DIMENSION_MODEL: MODEL,
  USAGE_DIMENSION_API_KEY: KEY,
} = UsageDimension;

let database: UsageDatabase;
let pool: Pool;
let metrics: Registry;
let handle: EventHandler;
let query: RpcClient<typeof GenerationQueryDefinition>;
let record: (...events: readonly Settled[]) => Promise<unknown>;

beforeAll(async () => {
  database = await createUsageDatabase();
  ({ pool } = database);
});

beforeEach(async () => {
  await database.clear();
  ({ metrics, handle, query, record } = createUsageModules(pool));
});

afterAll(() => database.close());

function usage(
  groupBy: UsageDimension[],
  more: {
    startDate?: string;
    endDate?: string;
    modelId?: string;
    runId?: string;
    projectId?: string;
    apiType?: string;
  } = {},
) {
  const period = { startDate: '2026-11-01', endDate: '2026-11-30' };
  return query.getUsage({ organizationId: 'org-1', groupBy, ...period, ...more });
}

it('returns when keys were last used and what they spent today and this month', async () => {
  await record(
    { generationId: 'gen-1', keyId: 'key-a', createdUnixMs: BigInt(NOON - DAY_MS), charged: 5n },
    { generationId: 'gen-2', keyId: 'key-a', createdUnixMs: BigInt(NOON), charged: 7n },
    { generationId: 'gen-3', keyId: 'key-b', createdUnixMs: BigInt(NOON - 40 * DAY_MS), charged: 100n },
    {
      generationId: 'gen-4',
      keyId: 'key-a',
      createdUnixMs: BigInt(NOON),
      charged: 1n,
      organizationId: 'org-2',
    },
  );
  const reader = createPostgresUsageReader(pool);
  const { services } = createGenerationQueryModule({ reader, clock: createTestClock(NOON) });
  const admin = createAdminClient(inProcessFor(services));
  const query = { key_ids: ['key-b', 'key-none', 'key-a'] };
  const { data } = await admin.call(parts.keyActivity, { params: { organization_id: 'org-1' }, query });
  const none = { last_used_at: null, spend_today_usd: '0', spend_this_month_usd: '0' };
  expect(data).toEqual([
    { ...none, last_used_at: isoTime(NOON - 40 * DAY_MS) },
    none,
    { last_used_at: isoTime(NOON), spend_today_usd: usd(7n), spend_this_month_usd: usd(12n) },
  ]);
});

describe('looking up a generation', () => {
  it('returns all details once it is settled', async () => {
    await record({
      streamed: true,
      externalUser: 'customer\0-7',
      apiType: 'messages',
      written: [3, 4],
      errorCode: 'upstream_error',
      usageSource: UsageSource.USAGE_SOURCE_COUNTED,
      charged: 1_000_000n,
    });
    const { generation } = await query.getGeneration({ organizationId: 'org-1', generationId: 'gen-1' });
    expect(generation).toEqual({
      id: 'gen-1',
      modelId: 'acme/m-1',
      keyId: 'key-1',
      requestId: 'req_1',
      createdUnixMs: BigInt(NOON),
      streamed: true,
      cancelled: false,
      finishReason: 'stop',
      usage: {
        promptTokens: 10,
        cachedTokens: 0,
        cacheWriteTokens: 3,
        cacheWrite1hTokens: 4,
        imageTokens: 0,
        completionTokens: 25,
        reasoningTokens: 5,
      },
      usageSource: UsageSource.USAGE_SOURCE_COUNTED,
      costNanoUsd: 1_500_000n,
      chargedNanoUsd: 1_000_000n,
      latencyMs: 310,
      generationTimeMs: 1_200,
      externalUser: 'customer\uFFFD-7',
      apiType: 'messages',
      provider: 'acme',
      errorCode: 'upstream_error',
    });
  });

  it('never finds one of another organization, an unknown one, or an invalid id', async () => {
    await record({});
    for (const [organizationId, generationId] of [
      ['org-2', 'gen-1'],
      ['org-1', 'gen-2'],
      ['org-1', ''],
      ['org-1', 'gen-1\0'],
      ['org-1', `'; drop table generations; --`],
    ] as const) {
      const response = await query.getGeneration({ organizationId, generationId });
      expect(response.generation).toBeUndefined();
    }
  });
});

describe('usage', () => {
  beforeEach(() =>
    record(
      { generationId: 'gen-1', modelId: 'b', keyId: 'k1', cost: 1n, tokens: [1, 1, 1, 1], written: [5, 60] },
      { generationId: 'gen-2', modelId: 'a', keyId: 'k2', cost: 20n, tokens: [20, 2, 20, 2] },
      { generationId: 'gen-3', modelId: 'a', keyId: 'k1', cost: 300n, createdUnixMs: BigInt(NOON - DAY_MS) },
      { generationId: 'gen-4', modelId: 'b', keyId: 'k1', cost: 4_000n, tokens: [1, 0, 1, 0] },
      { generationId: 'gen-5', organizationId: 'org-2', cost: 50_000n },
    ),
  );

  const brief = (row: UsageRow) => [row.date, row.modelId, row.keyId, row.requests, row.costNanoUsd];

  it.each([
    ['nothing', [], [[undefined, undefined, undefined, 4n, 4_321n]]],
    [
      'day',
      [DAY],
      [
        ['2026-11-19', undefined, undefined, 1n, 300n],
        ['2026-11-20', undefined, undefined, 3n, 4_021n],
      ],
    ],
    [
      'model and key',
      [KEY, MODEL],
      [
        [undefined, 'a', 'k1', 1n, 300n],
        [undefined, 'a', 'k2', 1n, 20n],
        [undefined, 'b', 'k1', 2n, 4_001n],
      ],
    ],
    [
      'all three',
      [DAY, MODEL, KEY],
      [
        ['2026-11-19', 'a', 'k1', 1n, 300n],
        ['2026-11-20', 'a', 'k2', 1n, 20n],
        ['2026-11-20', 'b', 'k1', 2n, 4_001n],
      ],
    ],
  ] as [string, UsageDimension[], unknown[][]][])(
    'grouped by %s is exact, ordered, limited to this organization, and has the same totals',
    async (_name, groupBy, expected) => {
      const { rows, totals } = await usage(groupBy);
      expect(rows.map(brief)).toEqual(expected);
      expect(totals).toMatchObject({ requests: 4n, costNanoUsd: 4_321n });
    },
  );

  it('sums every kind of token', async () => {
    const { totals } = await usage([MODEL], { startDate: '2026-11-20', endDate: '2026-11-20' });
    expect(totals).toMatchObject({
      requests: 3n,
      promptTokens: 22n,
      completionTokens: 22n,
      reasoningTokens: 3n,
      cachedTokens: 3n,
      cacheWriteTokens: 5n,
      cacheWrite1hTokens: 60n,
    });
  });

  it('can be filtered by model, and is empty without usage', async () => {
    expect((await usage([DAY], { modelId: 'a' })).totals?.costNanoUsd).toBe(320n);
    expect(await usage([], { modelId: 'unknown' })).toMatchObject({ rows: [], totals: { requests: 0n } });
  });

  it('of a run sums its generations as the other usage is summed', async () => {
    const ofRun = { runId: 'run-1', tokens: [10, 1, 5, 2] as const, written: [3, 4] as const };
    const midnight = BigInt(Date.UTC(2026, 10, 20));
    await record(
      { generationId: 'r1', ...ofRun, createdUnixMs: midnight - 1n, modelId: 'a', cost: 7n },
      { generationId: 'r2', ...ofRun, createdUnixMs: midnight, modelId: 'b', cost: 8n },
      { generationId: 'r3', ...ofRun, createdUnixMs: midnight, modelId: 'b', keyId: 'k9', cost: 9n },
      { generationId: 'other-run', ...ofRun, runId: 'run-2', createdUnixMs: midnight, cost: 100n },
      { generationId: 'other-org', ...ofRun, organizationId: 'org-2', createdUnixMs: midnight, cost: 200n },
    );
    const all = await usage([DAY, MODEL], { runId: 'run-1' });
    expect(all.rows.map((row) => [row.date, row.modelId, row.requests, row.costNanoUsd])).toEqual([
      ['2026-11-19', 'a', 1n, 7n],
      ['2026-11-20', 'b', 2n, 17n],
    ]);
    expect(all.totals).toMatchObject({
      requests: 3n,
      promptTokens: 30n,
      cachedTokens: 3n,
      cacheWriteTokens: 9n,
      cacheWrite1hTokens: 12n,
      completionTokens: 15n,
      reasoningTokens: 6n,
      costNanoUsd: 24n,
    });
    const oneDay = { startDate: '2026-11-20', endDate: '2026-11-20' };
    expect((await usage([], { runId: 'run-1', ...oneDay })).totals?.costNanoUsd).toBe(17n);
    expect((await usage([KEY], { runId: 'run-1', modelId: 'b', ...oneDay })).rows).toHaveLength(2);
    expect(await usage([], { runId: 'unknown' })).toMatchObject({ rows: [], totals: { requests: 0n } });
  });

  it('is filtered by the project in which the requests were admitted', async () => {
    await record(
      { generationId: 'a', projectId: 'proj-1', cost: 7n },
      { generationId: 'b', projectId: 'proj-2', cost: 20n },
      { generationId: 'c', cost: 100n },
      { generationId: 'd', projectId: 'proj-1', runId: 'run-1', cost: 400n },
    );
    const costOf = async (more: { projectId?: string; runId?: string }) =>
      (await usage([], more)).totals?.costNanoUsd;
    expect(await costOf({ projectId: 'proj-1' })).toBe(407n);
    expect(await costOf({ projectId: 'proj-1', runId: 'run-1' })).toBe(400n);
    expect(await costOf({ projectId: 'proj-2', runId: 'run-1' })).toBe(0n);
  });

  it('is filtered and grouped by the API of the requests, and grouped by project', async () => {
    await record(
      { generationId: 'a', apiType: 'messages', cost: 7n },
      { generationId: 'b', apiType: 'responses', projectId: 'proj-1', cost: 20n },
      { generationId: 'c', apiType: 'messages', runId: 'run-1', cost: 400n },
    );
    const { rows } = await usage([
      UsageDimension.USAGE_DIMENSION_PROJECT,
      UsageDimension.USAGE_DIMENSION_API_TYPE,
    ]);
    expect(rows.map((row) => [row.projectId, row.apiType, row.costNanoUsd])).toEqual([
      ['', 'completions', 4_321n],
      ['', 'messages', 407n],
      ['proj-1', 'responses', 20n],
    ]);
    const costOf = async (more: { apiType?: string; runId?: string }) =>
      (await usage([], more)).totals?.costNanoUsd;
    expect(await costOf({ apiType: 'messages' })).toBe(407n);
    expect(await costOf({ apiType: 'responses' })).toBe(20n);
    expect(await costOf({ apiType: 'embeddings' })).toBe(0n);
    expect(await costOf({ apiType: 'messages', runId: 'run-1' })).toBe(400n);
    expect(await costOf({ apiType: 'responses', runId: 'run-1' })).toBe(0n);
  });

  it('is empty for days before all others', async () => {
    for (const startDate of ['1969-12-31', '0001-01-01'])
      expect((await usage([DAY], { startDate, endDate: startDate })).rows).toEqual([]);
  });

  it('counts on the UTC day of admission, to the millisecond', async () => {
    const midnight = BigInt(Date.UTC(2026, 11, 1));
    await record(
      { generationId: 'last', createdUnixMs: midnight - 1n, cost: 7n },
      { generationId: 'first', createdUnixMs: midnight, cost: 8n },
    );
    const { rows } = await usage([DAY], { startDate: '2026-11-30', endDate: '2026-12-01' });
    expect(rows.map((row) => [row.date, row.costNanoUsd])).toEqual([
      ['2026-11-30', 7n],
      ['2026-12-01', 8n],
    ]);
  });

  it.each([
    ['start_date', { startDate: '2026-02-30' }],
    ['end_date', { endDate: 'yesterday' }],
    ['end_date', { startDate: '2026-11-02', endDate: '2026-11-01' }],
    ['start_date', { startDate: '2020-01-01' }],
  ])('refuses a bad period and names %s', async (param, period) => {
    await expect(usage([DAY], period)).rejects.toMatchObject({ code: 'invalid_request', param });
  });

  it('refuses an unknown dimension', async () => {
    const unspecified = UsageDimension.USAGE_DIMENSION_UNSPECIFIED;
    await expect(usage([unspecified])).rejects.toMatchObject({ code: 'invalid_request', param: 'group_by' });
  });
});

describe('the consumer of generation.settled', () => {
  it('stores the valid events of a batch and rejects the others with a reason', async () => {
    const valid = logged(settled({}));
    const garbage = rawEvent(Buffer.from([0xff, 0xff, 0xff]));
    const empty = rawEvent(GenerationSettled.encode(GenerationSettled.fromPartial({})).finish());
    const nameless = logged(settled({ generationId: '' }));
    const timeless = logged(settled({ generationId: 'gen-t', createdUnixMs: -1n }));
    const failure = await Promise.resolve(handle([garbage, valid, empty, nameless, timeless])).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(UnprocessableEventsError);
    const { unprocessable } = failure as UnprocessableEventsError;
    expect(unprocessable.map(({ event }) => event)).toEqual([garbage, empty, nameless, timeless]);
    expect(unprocessable.slice(1).map(({ reason }) => reason)).toEqual([
      'the event has no generation',
      'generation_id is empty',
      'created_unix_ms is out of range',
    ]);
    expect((await usage([])).totals?.requests).toBe(1n);
  });

  it('stores amounts beyond the precision of a double, to the nano-dollar', async () => {
    const cost = 9_007_199_254_740_993n;
    await record({ generationId: 'a', cost }, { generationId: 'b', cost });
    expect((await usage([])).totals?.costNanoUsd).toBe(2n * cost);
  });

  it('stores the progress of the consumer with the generations, or neither', async () => {
    await pool.query('create table progress_of_test (step integer check (step > 0))');
    let committed = 0;
    const progress = (step: number): ConsumerProgress => ({
      write: async (client) =>
        void (await (client as ClientBase).query('insert into progress_of_test values ($1)', [step])),
      committed: () => void (committed += 1),
    });
    await expect(handle([logged(settled({}))], progress(-1))).rejects.toThrow('check');
    expect((await usage([])).totals?.requests ?? 0n).toBe(0n);
    await handle([logged(settled({}))], progress(1));
    expect((await usage([])).totals?.requests).toBe(1n);
    await handle([logged(settled({}))], progress(2));
    expect((await usage([])).totals?.requests).toBe(1n);
    // An event that becomes a dead letter is not passed before it is one.
    await handle([logged(settled({})), rawEvent(Buffer.from('garbage'))], progress(3)).catch(() => undefined);
    const { rows } = await pool.query<{ step: number }>('select step from progress_of_test order by step');
    expect([rows.map(({ step }) => step), committed]).toEqual([[1, 2], 2]);
  });

  it('counts new and repeated generations', async () => {
    await record({}, { generationId: 'gen-2' });
    await record({});
    const text = await metrics.metrics();
    expect(text).toContain('gateway_usage_aggregator_generations_total{outcome="recorded"} 2');
    expect(text).toContain('gateway_usage_aggregator_generations_total{outcome="duplicate"} 1');
  });

  it('counts every generation once under redelivery, duplicates, any order and two concurrent members', () =>
    announceSeed(async (seed) => {
      const random = seededRandom(seed);
      const events = Array.from({ length: 400 }, (_, index) => randomSettlement(random, index));
      const deliveries = random.shuffle([
        ...events,
        ...random.shuffle(events).slice(0, 200),
        ...events.slice(0, 50),
      ]);
      const batches: LoggedEvent[][] = [];
      while (deliveries.length > 0) batches.push(deliveries.splice(0, random.integer(1, 40)).map(logged));
      await Promise.all(
        [0, 1].map(async (member) => {
          for (const batch of batches.filter((_, index) => index % 2 === member)) {
            // After a deadlock or a conflict the event log would deliver again.
            await handle(batch).catch(() => handle(batch));
            if (random.chance(0.3)) await handle(batch);
          }
        }),
      );
      const { rows, totals } = await usage([DAY, MODEL, KEY], { startDate: '2026-11-01' });
      const expected = independentSums(events);
      expect(
        new Map(rows.map((row) => [`${row.date}/${row.modelId}/${row.keyId}`, row.costNanoUsd])),
      ).toEqual(expected);
      expect(totals?.costNanoUsd).toBe([...expected.values()].reduce((sum, cost) => sum + cost, 0n));
      expect(totals?.requests).toBe(400n);
    }));
});

function randomSettlement(random: SeededRandom, index: number): GenerationSettled {
  return settled({
    generationId: `gen-${index}`,
    modelId: random.pick(['acme/m-1', 'acme/m-2', 'other/x']),
    keyId: random.pick(['key-1', 'key-2']),
    createdUnixMs: BigInt(NOON - random.integer(0, 3 * DAY_MS)),
    cost: BigInt(random.integer(0, 2_000_000_000)) * 1_000n + BigInt(random.integer(0, 999)),
  });
}

/** Sums the messages independently of the code under test. */
function independentSums(events: readonly GenerationSettled[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { finished, costNanoUsd } of events) {
    const at = new Date(Number(finished?.createdUnixMs));
    const day = `${at.getUTCFullYear()}-${at.getUTCMonth() + 1}-${String(at.getUTCDate()).padStart(2, '0')}`;
    const group = `${day}/${finished?.modelId}/${finished?.keyId}`;
    sums.set(group, (sums.get(group) ?? 0n) + costNanoUsd);
  }
  return sums;
}
