import { isoTime, type CallInput } from '@gateway/admin-calls';
import { DAY_MS, HOUR_MS, type ConsumerProgress } from '@gateway/base';
import type { GenerationSettled } from '@gateway/contracts/events';
import { UsageDimension, type GetUsageRequest } from '@gateway/contracts/generation-query';
import { endpoints, parts } from '@gateway/dashboard-contract';
import type { LoggedEvent } from '@gateway/events';
import { announceSeed, createTestClock, seededRandom, type SeededRandom } from '@gateway/test-support';
import type { ClientBase } from 'pg';
import { MAX_VALUES_PER_DAY } from '../core/usage-values';
import { logged, NOON, settled, type Settled } from '../testing/settled-events';
import { createUsageUnderTest, type UsageUnderTest } from '../testing/usage-under-test';

const {
  USAGE_DIMENSION_DAY: DAY,
  USAGE_DIMENSION_API_KEY: KEY,
  USAGE_DIMENSION_USER: USER,
  USAGE_DIMENSION_TAG: TAG,
} = UsageDimension;
const TABLES =
  'generations, usage_rollups, usage_rollups_hourly, usage_value_rollups, usage_value_rollups_hourly, usage_provider_rollups';

const clock = createTestClock(NOON + 2 * HOUR_MS);
let usageUnderTest: UsageUnderTest;
let { pool, handle, query, admin, record } = {} as UsageUnderTest;
let reports = 0n;

beforeAll(async () => {
  usageUnderTest = await createUsageUnderTest(clock);
  ({ pool, handle, query, admin, record } = usageUnderTest);
});
beforeEach(() => usageUnderTest.clear());
afterAll(() => usageUnderTest.close());

const recordRefusals = (requests: bigint) =>
  usageUnderTest.refusals.record(
    {
      ...{ reporterId: 'edge', reportNumber: (reports += 1n), latest: [] },
      counts: [
        {
          ...{ organizationId: 'org-1', keyId: 'key-1', projectId: '', modelId: 'acme/m-1' },
          ...{ errorCode: 'rate_limited', apiType: 'completions', hour: NOON as never, requests },
        },
      ],
    },
    clock.now(),
  );

async function usage(groupBy: UsageDimension[], more: Partial<GetUsageRequest> = {}) {
  const range = { startDate: '2026-11-20', endDate: '2026-11-20' };
  return query.getUsage({ organizationId: 'org-1', ...range, groupBy, ...more });
}
const shortRows = async (...of: Parameters<typeof usage>) =>
  (await usage(...of)).rows.map(({ date, value, otherValues, requests, costNanoUsd }) => [
    ...(date === undefined ? [] : [date]),
    otherValues ? '(other)' : (value ?? '(none)'),
    requests,
    costNanoUsd,
  ]);

const team = (value: string) => ({ tags: [{ name: 'team', value }] });

describe('usage by end user and by tag', () => {
  it('sums each value, and the requests without one, up to the total', async () => {
    await record(
      { generationId: 'a', externalUser: 'alice', cost: 1n, tags: [{ name: 'team', value: 'blue' }] },
      { generationId: 'b', externalUser: 'bob', cost: 20n },
      { generationId: 'c', externalUser: 'alice', cost: 300n, keyId: 'key-2' },
      { generationId: 'd', externalUser: '', cost: 4_000n, modelId: 'other/x' },
      { generationId: 'e', cost: 50_000n, tags: [{ name: 'region', value: 'eu' }, ...team('red').tags] },
      { generationId: 'f', organizationId: 'org-2', externalUser: 'alice', cost: 7n, ...team('blue') },
    );
    expect(await shortRows([USER])).toEqual([
      ['alice', 2n, 301n],
      ['bob', 1n, 20n],
      ['(none)', 2n, 54_000n],
    ]);
    expect(await shortRows([TAG], { tag: 'team' })).toEqual([
      ['blue', 1n, 1n],
      ['red', 1n, 50_000n],
      ['(none)', 3n, 4_320n],
    ]);
    expect(await shortRows([TAG], { tag: 'never-declared' })).toEqual([['(none)', 5n, 54_321n]]);
    expect((await usage([USER])).totals).toMatchObject({ requests: 5n, costNanoUsd: 54_321n });
  });

  it('sums days apart or together, also where a tag was declared between them', async () => {
    const yesterday = { createdUnixMs: BigInt(NOON - DAY_MS) };
    await record(
      { generationId: 'a', cost: 1n, ...yesterday },
      { generationId: 'b', cost: 20n, ...team('blue') },
      { generationId: 'c', cost: 300n, ...team('blue'), createdUnixMs: BigInt(NOON + 5 * HOUR_MS) },
    );
    const from = { startDate: '2026-11-19', tag: 'team' };
    expect(await shortRows([DAY, TAG], from)).toEqual([
      ['2026-11-19', '(none)', 1n, 1n],
      ['2026-11-20', 'blue', 2n, 320n],
    ]);
    expect(await shortRows([TAG], from)).toEqual([
      ['blue', 2n, 320n],
      ['(none)', 1n, 1n],
    ]);
  });

  it('keeps the tokens of each value', async () => {
    await record(
      { generationId: 'a', externalUser: 'alice', tokens: [100, 10, 20, 5], written: [7, 3] },
      { generationId: 'b', tokens: [1, 0, 2, 0] },
    );
    expect((await usage([USER])).rows).toMatchObject([
      {
        ...{ value: 'alice', promptTokens: 100n, cachedTokens: 10n, completionTokens: 20n },
        ...{ reasoningTokens: 5n, cacheWriteTokens: 7n, cacheWrite1hTokens: 3n },
      },
      { value: undefined, promptTokens: 1n, completionTokens: 2n },
    ]);
  });

  it.each([
    ['another dimension', [USER, KEY], {}],
    ['a model', [USER], { modelId: 'acme/m-1' }],
    ['a project', [TAG], { tag: 'team', projectId: 'proj-1' }],
    ['an API', [TAG], { tag: 'team', apiType: 'messages' }],
    ['a run', [USER], { runId: 'run-1' }],
    ['two of them', [USER, TAG], { tag: 'team' }],
  ])('refuses %s in addition, which the sums do not have', async (_name, groupBy, more) => {
    await expect(usage(groupBy, more)).rejects.toMatchObject({ code: 'invalid_request', param: 'group_by' });
  });

  it('limits the values of a day, sums the others together, and loses nothing', async () => {
    const users = (from: number, count: number, more: Settled = {}) =>
      Array.from({ length: count }, (_, index) => {
        const externalUser = `user-${String(from + index).padStart(4, '0')}`;
        return { generationId: `${externalUser}-${more.createdUnixMs}`, externalUser, cost: 1n, ...more };
      });
    await record(...users(0, MAX_VALUES_PER_DAY - 1));
    await record(...users(MAX_VALUES_PER_DAY - 1, 3), { generationId: 'without', cost: 1n });
    const known = { generationId: 'known', externalUser: 'user-0000', cost: 40n };
    const fresh = { generationId: 'fresh', externalUser: 'another', cost: 500n };
    await record(known, fresh, { ...team('blue'), generationId: 'tagged', cost: 6_000n });
    const rows = await shortRows([USER]);
    expect(rows).toHaveLength(MAX_VALUES_PER_DAY + 2);
    expect(rows[0]).toEqual(['user-0000', 2n, 41n]);
    expect(rows.slice(-3)).toEqual([
      ['user-0999', 1n, 1n],
      ['(none)', 2n, 6_001n],
      ['(other)', 3n, 502n],
    ]);
    expect(await shortRows([TAG], { tag: 'team' })).toContainEqual(['blue', 1n, 6_000n]);
    await record(...users(5_000, 1, { createdUnixMs: BigInt(NOON + DAY_MS) }));
    const tomorrow = { startDate: '2026-11-21', endDate: '2026-11-21' };
    expect(await shortRows([USER], tomorrow)).toEqual([['user-5000', 1n, 1n]]);
  });

  it('equals the usage by key under duplicates, any order, replays and failures of the aggregator', () =>
    announceSeed(async (seed) => {
      const random = seededRandom(seed);
      const events = Array.from({ length: 300 }, (_, index) => randomSettlement(random, index));
      await deliver(random, [...events, ...random.shuffle(events).slice(0, 150)]);
      await expectEqualSums(events);
      const rebuilt = await pool.query(`select * from usage_value_rollups order by 1, 2, 3, 4, 5`);
      await pool.query(`truncate ${TABLES}`);
      await deliver(random, [...events]);
      await expectEqualSums(events);
      expect((await pool.query(`select * from usage_value_rollups order by 1, 2, 3, 4, 5`)).rows).toEqual(
        rebuilt.rows,
      );
    }));

  /** Delivers in random batches. Some transactions fail after the sums were written, and are delivered again. */
  async function deliver(random: SeededRandom, events: readonly GenerationSettled[]) {
    const deliveries = random.shuffle([...events]);
    const killed: ConsumerProgress = {
      write: async (client) => void (await (client as ClientBase).query('select 1 / 0')),
      committed: () => undefined,
    };
    while (deliveries.length > 0) {
      const batch: LoggedEvent[] = deliveries.splice(0, random.integer(1, 40)).map(logged);
      if (random.chance(0.3)) await expect(handle(batch, killed)).rejects.toThrow('division by zero');
      await handle(batch);
      if (random.chance(0.3)) await handle(batch);
    }
  }

  async function expectEqualSums(events: readonly GenerationSettled[]) {
    const range = { startDate: '2026-11-17' };
    const byKey = await usage([DAY, KEY], range);
    const days = (rows: typeof byKey.rows) => {
      const sums = new Map<string, bigint>();
      for (const { date = '', costNanoUsd } of rows) sums.set(date, (sums.get(date) ?? 0n) + costNanoUsd);
      return sums;
    };
    for (const [dimension, tag] of [[USER], [TAG, 'team'], [TAG, 'region']] as const) {
      const { rows, totals } = await usage([DAY, dimension], { ...range, tag });
      expect(days(rows)).toEqual(days(byKey.rows));
      expect(totals).toEqual(byKey.totals);
      const sums = new Map<string, bigint>();
      for (const { finished, costNanoUsd } of events) {
        const value = tag ? finished?.tags.find(({ name }) => name === tag)?.value : finished?.externalUser;
        sums.set(value ?? '', (sums.get(value ?? '') ?? 0n) + costNanoUsd);
      }
      const { rows: byValue } = await usage([dimension], { ...range, tag });
      expect(new Map(byValue.map(({ value = '', costNanoUsd }) => [value, costNanoUsd]))).toEqual(sums);
    }
  }
});

describe('usage over time by end user or tag', () => {
  const params = { organization_id: 'org-1' };
  type Series = CallInput<typeof endpoints.usage.series>['query'];
  const range = { start: isoTime(NOON), end: isoTime(NOON + 2 * HOUR_MS), granularity: 'hour' as const };
  const series = (more: Partial<Series>) =>
    admin.call(endpoints.usage.series, { params, query: { ...range, ...more } as Series });
  type Groups = CallInput<typeof endpoints.usage.groups>['query'];
  const groups = (more: Partial<Groups>) =>
    admin.call(endpoints.usage.groups, { params, query: { ...range, ...more } as Groups });

  beforeEach(async () => {
    await record(
      { generationId: 'a', externalUser: 'alice', cost: 1n, ...team('blue') },
      { generationId: 'b', externalUser: 'bob', cost: 20n, errorCode: 'upstream_error' },
      { generationId: 'c', cost: 300n, createdUnixMs: BigInt(NOON + HOUR_MS), ...team('blue') },
    );
    await recordRefusals(5n);
  });

  it('splits hours and days, with the refused requests without a value', async () => {
    const { data, totals } = await series({ split_by: 'user' });
    expect(
      data.map(({ start, value, spend_usd, requests, refused }) => [
        start,
        value,
        spend_usd,
        requests,
        refused,
      ]),
    ).toEqual([
      [isoTime(NOON), '', '0', 0, 5],
      [isoTime(NOON), 'alice', '0.000000001', 1, 0],
      [isoTime(NOON), 'bob', '0.00000002', 1, 0],
      [isoTime(NOON + HOUR_MS), '', '0.0000003', 1, 0],
    ]);
    expect(totals).toMatchObject({
      requests: 3,
      errors: 1,
      refused: 5,
      spend_usd: '0.000000321',
      duration: null,
    });
    const days = await series({ split_by: 'tag', tag: 'team', granularity: 'day' });
    expect(days.data.map(({ value, requests, refused }) => [value, requests, refused])).toEqual([
      ['', 1, 5],
      ['blue', 2, 0],
    ]);
  });

  it('shows the largest values and sums the rest', async () => {
    const { data } = await series({ split_by: 'user', top: '1', granularity: 'day' });
    expect(data.map(({ value, requests, refused }) => [value, requests, refused])).toEqual([
      ['', 1, 5],
      [null, 2, 0],
    ]);
  });

  it('pages and sorts values, with the refused requests without a value', async () => {
    const first = await groups({ group_by: 'user', sort: 'requests', order: 'desc', page_size: '2' });
    expect(first.total).toBe(3);
    expect(
      first.data.map(({ id, requests, refused, other_values }) => [id, requests, refused, other_values]),
    ).toEqual([
      ['', 1, 5, false],
      ['alice', 1, 0, false],
    ]);
    const next = { group_by: 'user', sort: 'requests', page_token: first.next_page_token ?? '' } as const;
    expect((await groups(next)).data.map(({ id }) => id)).toEqual(['bob']);
    const byTag = await groups({ group_by: 'tag', tag: 'team' });
    expect(byTag.data.map(({ id, spend_usd }) => [id, spend_usd])).toEqual([
      ['blue', '0.000000301'],
      ['', '0.00000002'],
    ]);
  });

  it.each([
    ['a model', { split_by: 'user', model_id: 'm' }, 'split_by'],
    ['an API', { split_by: 'tag', tag: 'team', api_type: 'messages' }, 'split_by'],
    ['no name of the tag', { split_by: 'tag' }, 'tag'],
  ] as const)('refuses a series with %s', async (_name, more, param) => {
    await expect(series(more)).rejects.toMatchObject({ code: 'invalid_request', param });
  });

  it('refuses groups with a filter', async () => {
    await expect(groups({ group_by: 'user', key_id: 'k' })).rejects.toMatchObject({
      ...{ code: 'invalid_request', param: 'group_by' },
    });
  });

  it('shows the tags of generations, and finds generations by a tag', async () => {
    const tags = [
      { name: 'a-longer-name', value: 'x:y' },
      { name: 'b', value: 'z' },
    ];
    await record({ generationId: 'gen-tagged', tags });
    const { generation } = await admin.call(parts.generation, {
      params: { ...params, generation_id: 'gen-tagged' },
    });
    expect(generation?.tags).toEqual({ 'a-longer-name': 'x:y', b: 'z' });
    const idsOf = async (tag: string) =>
      (await admin.call(endpoints.generations.list, { params, query: { tag } })).data.map(({ id }) => id);
    expect(await idsOf('a-longer-name:x:y')).toEqual(['gen-tagged']);
    expect(await idsOf('team:blue')).toEqual(['c', 'a']);
    expect(await idsOf('team:red')).toEqual([]);
  });
});

function randomSettlement(random: SeededRandom, index: number): GenerationSettled {
  const user = random.pick([undefined, 'alice', 'bob', 'Bob', 'other']);
  const tags = [
    { name: 'region', value: random.pick(['eu', 'us']) },
    { name: 'team', value: random.pick(['blue', 'red', 'green']) },
  ].filter(() => random.chance(0.6));
  return settled({
    generationId: `gen-${index}`,
    keyId: random.pick(['key-1', 'key-2']),
    ...(user === undefined ? {} : { externalUser: user }),
    tags,
    createdUnixMs: BigInt(NOON - random.integer(0, 3 * DAY_MS)),
    cost: BigInt(random.integer(0, 2_000_000_000)) * 1_000n + BigInt(random.integer(0, 999)),
  });
}
