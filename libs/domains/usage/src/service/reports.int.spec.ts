import { isoTime, usd, type CallInput } from '@gateway/admin-calls';
import { DAY_MS, HOUR_MS, type ApiType } from '@gateway/base';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { NOON } from '../testing/settled-events';
import { createUsageUnderTest, type UsageUnderTest } from '../testing/usage-under-test';

/** Two hours later. */
const clock = createTestClock(NOON + 2 * HOUR_MS);
let usageUnderTest: UsageUnderTest;
let { pool, admin, record } = {} as UsageUnderTest;

beforeAll(async () => {
  usageUnderTest = await createUsageUnderTest(clock);
  ({ pool, admin, record } = usageUnderTest);
});
beforeEach(() => usageUnderTest.clear());
afterAll(() => usageUnderTest.close());

const params = { organization_id: 'org-1' };
type Filter = CallInput<typeof endpoints.generations.list>['query'];
const list = (query: Filter = {}) => admin.call(endpoints.generations.list, { params, query });
const idsOf = async (query: Filter = {}) => (await list(query)).data.map(({ id }) => id);

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

  type Range = CallInput<typeof endpoints.usage.series>['query'];
  const series = (more: Partial<Range> = {}, organization_id = 'org-1') =>
    admin.call(endpoints.usage.series, {
      params: { organization_id },
      query: { start: isoTime(NOON), end: isoTime(NOON + 2 * HOUR_MS), granularity: 'hour', ...more },
    });

  it('sums any number of keys, sorted and paged by the server, and charts the largest', async () => {
    const keys = 1_000;
    await pool.query(
      `insert into usage_rollups
       select filled.* from generate_series(1, ${keys}) number, generate_series(1, 30) day,
         (select jsonb_object_agg(column_name, 0) as zeros from information_schema.columns
          where table_schema = current_schema() and table_name = 'usage_rollups' and data_type = 'bigint') defaults,
         jsonb_populate_record(null::usage_rollups, zeros || jsonb_build_object(
           'organization_id', 'org-many', 'day', date '2026-06-01' + day, 'model_id', 'm', 'project_id', '', 'api_type', 'completions',
           'key_id', 'key-' || number, 'requests', 2, 'charged_nano_usd', number)) filled`,
    );
    const range = {
      ...{ start: '2026-06-01T00:00:00.000Z', end: '2026-07-02T00:00:00.000Z' },
      granularity: 'day' as const,
    };
    const groups = (more: object = {}) =>
      admin.call(endpoints.usage.groups, {
        params: { organization_id: 'org-many' },
        query: { ...range, group_by: 'key', page_size: '200', ...more },
      });
    const first = await groups();
    expect(first).toMatchObject({ total: keys, next_page_token: '200' });
    expect(first.data[0]).toMatchObject({ id: 'key-1000', requests: 60, spend_usd: usd(30_000n) });
    const found: string[] = [];
    for (let token: string | null = ''; token !== null;) {
      const page: Awaited<ReturnType<typeof groups>> = await groups({ page_token: token });
      found.push(...page.data.map(({ id }) => id));
      token = page.next_page_token;
    }
    expect(new Set(found).size).toBe(keys);
    expect((await groups({ order: 'asc' })).data[0]).toMatchObject({ id: 'key-1' });
    const top = await series({ ...range, split_by: 'key', top: '2' }, 'org-many');
    expect(top.data).toHaveLength(90);
    expect(top.data.slice(0, 3)).toMatchObject([
      { key_id: 'key-1000', spend_usd: usd(1_000n) },
      { key_id: 'key-999', spend_usd: usd(999n) },
      { key_id: null, requests: 2 * (keys - 2) },
    ]);
    expect(top.totals.spend_usd).toBe(usd(30n * 500_500n));
    await expect(groups({ page_token: '-1' })).rejects.toMatchObject({ param: 'page_token' });
    await expect(series({ top: '2' })).rejects.toMatchObject({ param: 'top' });
  });

  it('is grouped by UTC hour, with errors, cancellations, tokens by kind, cost and charge', async () => {
    const { data, totals, start, end } = await series({ start: isoTime(NOON + 5) });
    expect([start, end]).toEqual([isoTime(NOON), isoTime(NOON + 2 * HOUR_MS)]);
    expect(data).toEqual([
      expect.objectContaining({
        start: isoTime(NOON),
        requests: 2,
        errors: 1,
        cancelled: 0,
        cost_usd: usd(21n),
        spend_usd: usd(16n),
        prompt_tokens: 20,
      }),
      expect.objectContaining({
        start: isoTime(NOON + HOUR_MS),
        requests: 1,
        errors: 0,
        cancelled: 1,
        cached_tokens: 1,
        cache_write_tokens: 5,
        cache_write_1h_tokens: 3,
        reasoning_tokens: 2,
      }),
    ]);
    expect(totals).toMatchObject({ requests: 3, errors: 1, cancelled: 1, cost_usd: usd(321n) });
    expect(totals).toMatchObject({ cached_tokens: 1, cache_write_tokens: 5, cache_write_1h_tokens: 3 });
  });

  it('has the total duration of requests that did not fail, and the time to the first token of streamed requests', async () => {
    const { data } = await series({ model_id: 'm1' });
    expect(data).toHaveLength(1);
    // Without the failed one.
    expect(data[0]?.duration?.mean_ms).toBe(1_000);
    expect(data[0]?.time_to_first_token?.mean_ms).toBe(400);
    expect(data[0]?.time_to_first_token?.p95_ms).toBeGreaterThan(250);
    expect(data[0]?.time_to_first_token?.p95_ms).toBeLessThanOrEqual(500);
    const { data: unstreamed } = await series({ model_id: 'm2' });
    expect(unstreamed[0]?.time_to_first_token).toBeNull();
  });

  it('is grouped by day, split by model and key, filtered by model or key', async () => {
    const { data } = await series({
      granularity: 'day',
      end: isoTime(NOON + DAY_MS),
      split_by: 'model,key',
    });
    const midnight = Date.UTC(2026, 10, 20);
    expect(data.map((point) => [point.start, point.model_id, point.key_id, point.cost_usd])).toEqual([
      [isoTime(midnight), 'm1', 'k1', usd(1n)],
      [isoTime(midnight), 'm1', 'k2', usd(20n)],
      [isoTime(midnight), 'm2', 'k1', usd(300n)],
      [isoTime(midnight + DAY_MS), 'm2', 'k1', usd(4_000n)],
    ]);
    const { totals } = await series({ granularity: 'day', key_id: 'k2' });
    expect(totals).toMatchObject({ requests: 1, cost_usd: usd(20n) });
  });

  it('is empty without usage', async () => {
    const { data, totals } = await series({}, 'org-3');
    expect(data).toEqual([]);
    expect(totals).toMatchObject({ requests: 0, duration: null });
  });

  it('is split by project, or filtered by one or by none', async () => {
    await record(
      { generationId: 'p1', modelId: 'm1', keyId: 'k1', projectId: 'proj-1', cost: 7n },
      { generationId: 'p2', modelId: 'm2', keyId: 'k1', projectId: 'proj-1', cost: 30n },
      { generationId: 'p3', modelId: 'm2', keyId: 'k1', projectId: 'proj-2', cost: 500n },
    );
    const rows = async (more: Partial<Range> = {}) =>
      (await series({ granularity: 'day', split_by: 'project', ...more })).data.map((point) => [
        point.project_id,
        point.key_id,
        point.cost_usd,
      ]);
    expect(await rows()).toEqual([
      ['', null, usd(321n)],
      ['proj-1', null, usd(37n)],
      ['proj-2', null, usd(500n)],
    ]);
    expect(await rows({ project_id: 'proj-1' })).toEqual([['proj-1', null, usd(37n)]]);
    expect(await rows({ project_id: '' })).toEqual([['', null, usd(321n)]]);
    const { totals } = await series({ project_id: 'proj-1', split_by: 'model' });
    expect(totals).toMatchObject({ requests: 2, cost_usd: usd(37n) });
  });

  it('is filtered by the API of the requests', async () => {
    await record(
      { generationId: 'a1', modelId: 'm1', keyId: 'k1', apiType: 'messages', cost: 7n },
      { generationId: 'a2', modelId: 'm1', keyId: 'k1', apiType: 'responses', cost: 30n },
    );
    const costs = (['hour', 'day'] as const).map(async (granularity) => {
      const of = (api_type: ApiType) => series({ granularity, api_type });
      const [messages, chat, none] = await Promise.all([of('messages'), of('completions'), of('embeddings')]);
      expect([messages, chat, none].map(({ totals }) => totals.cost_usd)).toEqual([
        usd(7n),
        usd(321n),
        usd(0n),
      ]);
    });
    await Promise.all(costs);
  });

  it.each([
    ['end', { end: isoTime(NOON) }],
    ['start', { start: isoTime(NOON - 40 * DAY_MS) }],
    ['start', { start: '1969-12-31T23:59:59Z' }],
    ['split_by', { split_by: 'day' as 'model' }],
  ])('refuses an invalid %s', async (param, query) => {
    await expect(series(query)).rejects.toMatchObject({ code: expect.stringMatching(/^invalid/), param });
  });

  it("returns today's usage and the latest generation", async () => {
    expect(await admin.call(parts.usageNow, { params })).toEqual({
      requests_today: 3,
      spend_today_usd: usd(316n),
      latest_generation_id: 'd',
    });
    expect(await admin.call(parts.usageNow, { params: { organization_id: 'org-3' } })).toMatchObject({
      requests_today: 0,
      latest_generation_id: null,
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
    ...(index % 10 === 4 ? { projectId: 'proj-1' } : {}),
    // The others are events of an older version, without the field.
    ...(index % 10 === 3 ? { apiType: 'messages' } : {}),
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
      const page = await list({ page_size: '7', page_token: pageToken });
      seen.push(...page.data.map(({ id }) => id));
      pageToken = page.next_page_token ?? '';
    } while (pageToken !== '');
    expect(seen).toEqual(expected(() => true));
  });

  it.each([
    ['model', { model_id: 'm1' }, (_: unknown, index: number) => index % 2 === 1],
    ['key', { key_id: 'k2' }, (_: unknown, index: number) => index % 5 === 0],
    ['failed', { status: 'failed' }, (_: unknown, index: number) => index % 10 === 0],
    ['cancelled', { status: 'cancelled' }, (_: unknown, index: number) => index % 10 === 1],
    ['completed', { status: 'completed' }, (_: unknown, index: number) => index % 10 > 1],
    [
      'cost',
      { min_cost_usd: usd(3n), max_cost_usd: usd(9n) },
      (_: unknown, index: number) => index >= 3 && index <= 9,
    ],
    [
      'time',
      { since: isoTime(NOON + 1), until: isoTime(NOON + 3) },
      (_: unknown, index: number) => index >= 3 && index < 9,
    ],
    ['external user', { external_user: 'customer-7' }, (_: unknown, index: number) => index === 7],
    ['API', { api_type: 'messages' }, (_: unknown, index: number) => index % 10 === 3],
    ['API, chat', { api_type: 'completions' }, (_: unknown, index: number) => index % 10 !== 3],
    ['error code', { error_code: 'upstream_error' }, (_: unknown, index: number) => index % 10 === 0],
    ['error code that was never there', { error_code: 'no_capacity' }, () => false],
    ['error code among completed ones', { error_code: 'upstream_error', status: 'completed' }, () => false],
    ['project', { project_id: 'proj-1' }, (_: unknown, index: number) => index % 10 === 4],
    ['no project', { project_id: '' }, (_: unknown, index: number) => index % 10 !== 4],
    ['model and key', { model_id: 'm2', key_id: 'k2' }, (_: unknown, index: number) => index % 10 === 0],
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
    await expect(list({ page_token: 'nonsense' })).rejects.toMatchObject({
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
        error: { httpStatus: 503, code: 'overloaded', type: '', text: 'Quota of "acme" \\ é' },
      },
      {
        provider: 'other "one"',
        providerModel: 'm\\1',
        reason: 'order',
        outcome: 'ok',
        durationMs: 310,
        error: undefined,
      },
    ];
    await record({
      generationId: 'gen-detail',
      timeToFirstTokenMs: 0,
      attempts,
      prices,
      errorCode: 'upstream_error',
      projectId: 'proj-1',
    });
    const find = async (organization_id: string) => {
      const params = { organization_id, generation_id: 'gen-detail' };
      return (await admin.call(parts.generation, { params })).generation;
    };
    const found = await find('org-1');
    expect(found).toMatchObject({
      id: 'gen-detail',
      status: 'failed',
      project_id: 'proj-1',
      error_message: 'The model provider failed. Retry with backoff.',
      settled_at: isoTime(NOON + 100),
      time_to_first_token_ms: 0,
      attempts: attempts.map(({ providerModel, durationMs, error, ...attempt }) => ({
        ...attempt,
        error: error
          ? { http_status: 503, code: 'overloaded', type: null, text: 'Quota of "acme" \\ é' }
          : null,
        provider_model: providerModel,
        duration_ms: durationMs,
      })),
    });
    expect(found?.cost_by_kind?.find(({ kind }) => kind === 'output')).toMatchObject({
      price_usd_per_million: usd(3n),
    });
    expect(await find('org-2')).toBeNull();
  });
});
