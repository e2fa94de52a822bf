import { isoTime, type CallInput } from '@gateway/admin-calls';
import { DAY_MS, HOUR_MS, type UnixMs } from '@gateway/base';
import { RecordRefusalsRequest } from '@gateway/contracts/usage-aggregator';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { createPostgresRefusalStore } from '../adapters/postgres/refusal-store';
import { NOON } from '../testing/settled-events';
import { createUsageUnderTest, type UsageUnderTest } from '../testing/usage-under-test';

let usageUnderTest: UsageUnderTest;
let { pool, admin, aggregator, record } = {} as UsageUnderTest;

beforeAll(async () => {
  usageUnderTest = await createUsageUnderTest();
  ({ pool, admin, aggregator, record } = usageUnderTest);
});
beforeEach(() => usageUnderTest.clear());
afterAll(() => usageUnderTest.close());

interface Refused {
  readonly code?: string;
  readonly requests?: number;
  readonly organizationId?: string;
  readonly keyId?: string;
  readonly projectId?: string;
  readonly modelId?: string;
  readonly at?: number;
}

const count = ({ code, requests = 1, at = NOON, ...more }: Refused) => ({
  organizationId: 'org-1',
  keyId: 'key-1',
  projectId: '',
  apiType: 'completions',
  modelId: 'acme/m-1',
  errorCode: code ?? 'rpm_exceeded',
  hourUnixMs: BigInt(at - (at % HOUR_MS)),
  requests: BigInt(requests),
  ...more,
});
const request = (requestId: string, more: object = {}) => ({
  requestId,
  organizationId: 'org-1',
  keyId: 'key-1',
  model: 'acme/m-1',
  errorCode: 'rpm_exceeded',
  errorMessage: 'Too many requests.',
  apiType: 'completions',
  refusedUnixMs: BigInt(NOON),
  ...more,
});

let reporters = 0;
const report = (more: Partial<RecordRefusalsRequest>) =>
  aggregator.recordRefusals(
    RecordRefusalsRequest.fromPartial({ reporterId: `edge-${(reporters += 1)}`, reportNumber: 1n, ...more }),
  );
const paramsOf = (organization_id: string) => ({ params: { organization_id } });
type QueryOf<Name extends keyof typeof endpoints.usage> = CallInput<(typeof endpoints.usage)[Name]>['query'];
const errors = async (more: Partial<QueryOf<'errors'>> = {}, organizationId = 'org-1') => {
  const query = { start: isoTime(NOON), end: isoTime(NOON + 1), ...more };
  const { data } = await admin.call(endpoints.usage.errors, { ...paramsOf(organizationId), query });
  return data.map(({ code, refused, failed }) => [code, refused, failed]);
};
const refusedRequests = async (query: CallInput<typeof endpoints.generations.refused>['query'] = {}) =>
  (await admin.call(endpoints.generations.refused, { ...paramsOf('org-1'), query })).data;
const refused = async (query: CallInput<typeof endpoints.generations.refused>['query'] = {}) =>
  (await refusedRequests(query)).map((each) => each.request_id);
const series = (more: Partial<QueryOf<'series'>> = {}) =>
  admin.call(endpoints.usage.series, {
    ...paramsOf('org-1'),
    query: { start: isoTime(NOON), end: isoTime(NOON + HOUR_MS), granularity: 'hour', ...more },
  });

it('a report that is delivered twice counts once; later ones of the same edge and those of others count, too', async () => {
  const first = {
    reporterId: 'edge-a',
    reportNumber: 1n,
    counts: [count({ requests: 2 })],
    latest: [request('a')],
  };
  await report(first);
  await report(first);
  expect(await errors()).toEqual([['rpm_exceeded', 2, 0]]);
  await report({ ...first, reportNumber: 2n });
  await report(first);
  await report({ ...first, reporterId: 'edge-b' });
  expect(await errors()).toEqual([['rpm_exceeded', 6, 0]]);
  expect(await refused()).toEqual(['a']);
});

it('reports of many edges at once are all counted', async () => {
  const counts = [count({ code: 'model_not_found' }), count({}), count({ keyId: 'key-2' })];
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      report({ counts: index % 2 ? counts : [...counts].reverse(), latest: [request(`req-${index}`)] }),
    ),
  );
  expect(await errors()).toEqual([
    ['rpm_exceeded', 40, 0],
    ['model_not_found', 20, 0],
  ]);
});

it('errors are counted by code, with failed generations, within an organization, a time, a model and a key', async () => {
  await report({
    counts: [
      count({ requests: 3 }),
      count({ code: 'model_not_found', modelId: '', keyId: 'key-2' }),
      count({ organizationId: 'org-2' }),
      count({ at: NOON - 1 }),
      count({ at: NOON + HOUR_MS }),
    ],
  });
  await record(
    { generationId: 'a', errorCode: 'upstream_error' },
    { generationId: 'b', errorCode: 'upstream_error', keyId: 'key-2', modelId: 'acme/m-2' },
    { generationId: 'c', errorCode: 'rpm_exceeded' },
    { generationId: 'd' },
    { generationId: 'e', cancelled: true, finishReason: '' },
  );
  expect(await errors({ project_id: 'proj-1' })).toEqual([]);
  expect(await errors({ project_id: '' })).toHaveLength(3);
  expect(await errors({ api_type: 'completions' })).toHaveLength(3);
  expect(await errors({ api_type: 'messages' })).toEqual([]);
  expect(await errors()).toEqual([
    ['rpm_exceeded', 3, 1],
    ['upstream_error', 0, 2],
    ['model_not_found', 1, 0],
  ]);
  expect(await errors({ key_id: 'key-2' })).toEqual([
    ['model_not_found', 1, 0],
    ['upstream_error', 0, 1],
  ]);
  expect(await errors({ model_id: 'acme/m-2' })).toEqual([['upstream_error', 0, 1]]);
  expect(await errors({ end: isoTime(NOON + HOUR_MS + 1) })).toContainEqual(['rpm_exceeded', 4, 1]);
  expect(await errors({}, 'org-3')).toEqual([]);
});

it('a generation that is delivered twice fails once', async () => {
  await record({ generationId: 'a', errorCode: 'upstream_error' });
  await record({ generationId: 'a', errorCode: 'upstream_error' }, { generationId: 'b' });
  expect(await errors()).toEqual([['upstream_error', 0, 1]]);
});

describe('usage over time', () => {
  it('has refused requests with generations of the same hour, and alone', async () => {
    await record({ generationId: 'a' });
    await report({
      counts: [
        count({ requests: 2 }),
        count({ modelId: '', requests: 5 }),
        count({ at: NOON + DAY_MS, requests: 7 }),
      ],
    });
    const { data, totals } = await series({ split_by: 'model' });
    expect(data.map((point) => [point.model_id, point.requests, point.refused])).toEqual([
      ['', 0, 5],
      ['acme/m-1', 1, 2],
    ]);
    expect(totals).toMatchObject({ requests: 1, errors: 0, refused: 7 });
    const byDay = await series({ granularity: 'day', end: isoTime(NOON + DAY_MS) });
    expect(byDay.data.map((point) => [point.start, point.refused])).toEqual([
      [isoTime(Date.UTC(2026, 10, 20)), 7],
      [isoTime(Date.UTC(2026, 10, 21)), 7],
    ]);
  });

  it('counts generations that failed before their first event as errors, and not in its latencies', async () => {
    await record(
      { generationId: 'a', latencyMs: 300, generationTimeMs: 700 },
      {
        generationId: 'b',
        errorCode: 'upstream_error',
        tokens: [0, 0, 0, 0],
        cost: 0n,
        latencyMs: 4,
        generationTimeMs: 0,
      },
    );
    const { totals } = await series();
    expect(totals).toMatchObject({ requests: 2, errors: 1 });
    expect(totals.duration?.mean_ms).toBe(1_000);
    expect(totals.duration?.p50_ms).toBeGreaterThan(750);
  });
});

describe('the latest refused requests', () => {
  it('are at most 20 of an organization and error code, in any number of reports', async () => {
    const batch = (from: number, more: object = {}) =>
      Array.from({ length: 15 }, (_, index) =>
        request(`req-${from + index}`, { refusedUnixMs: BigInt(NOON + from + index), ...more }),
      );
    await report({ latest: batch(100) });
    await report({ latest: [...batch(200), ...batch(300, { errorCode: 'missing_model' })] });
    await report({ latest: batch(400, { organizationId: 'org-2' }) });
    await report({ latest: batch(500) });
    const found = await refused();
    expect(found.slice(0, 15)).toEqual(
      batch(500)
        .map(({ requestId }) => requestId)
        .reverse(),
    );
    expect(found.filter((id) => id.startsWith('req-2'))).toHaveLength(5);
    expect(found.filter((id) => id.startsWith('req-3'))).toHaveLength(15);
    expect(found).toHaveLength(35);
  });

  it('are found by request, key and model, within one organization', async () => {
    await report({
      latest: [
        request('a', { refusedUnixMs: BigInt(NOON + 2) }),
        request('b', {
          ...{ keyId: 'key-2', apiType: 'messages' },
          ...{ refusedUnixMs: BigInt(NOON + 1), errorMessage: 'a "quoted" \\ text' },
        }),
        request('c', { model: 'no/model' }),
        request('x', { organizationId: 'org-2' }),
      ],
    });
    expect(await refused()).toEqual(['a', 'b', 'c']);
    expect(await refused({ request_id: 'b' })).toEqual(['b']);
    expect(await refused({ request_id: 'x' })).toEqual([]);
    expect(await refused({ key_id: 'key-2' })).toEqual(['b']);
    expect(await refused({ model: 'no/model' })).toEqual(['c']);
    expect(await refused({ error_code: 'rpm_exceeded' })).toEqual(['a', 'b', 'c']);
    expect(await refused({ error_code: 'no_capacity' })).toEqual([]);
    expect(await refused({ api_type: 'messages' })).toEqual(['b']);
    expect(await refusedRequests({ request_id: 'b' })).toEqual([
      {
        request_id: 'b',
        key_id: 'key-2',
        model: 'acme/m-1',
        error_code: 'rpm_exceeded',
        error_message: 'a "quoted" \\ text',
        api_type: 'messages',
        refused_at: isoTime(NOON + 1),
      },
    ]);
  });
});

it('sums and requests past their retention are deleted', async () => {
  const store = createPostgresRefusalStore(pool);
  await report({
    counts: [count({}), count({ at: NOON + HOUR_MS })],
    latest: [request('old'), request('new', { refusedUnixMs: BigInt(NOON + HOUR_MS) })],
  });
  await store.deleteBefore((NOON + HOUR_MS) as UnixMs);
  expect(await errors({ end: isoTime(NOON + 2 * HOUR_MS) })).toEqual([['rpm_exceeded', 1, 0]]);
  expect(await refused()).toEqual(['new']);
});

it.each([
  ['without a reporter', { reporterId: '' }],
  ['with a count without an organization', { counts: [count({ organizationId: '' })] }],
  ['with too many counts', { counts: Array.from({ length: 5_001 }, () => count({})) }],
  ['with a time beyond the year 9999', { latest: [request('a', { refusedUnixMs: 10n ** 16n })] }],
])('a report %s is refused as a whole', async (_what, invalid) => {
  await expect(report({ counts: [count({})], ...invalid })).rejects.toMatchObject({
    code: 'invalid_request',
  });
  expect(await errors()).toEqual([]);
});

it('text that PostgreSQL cannot store is stored without NUL', async () => {
  await report({
    latest: [request('a', { model: 'a\0b', errorMessage: "The model 'a\0b' does not exist." })],
  });
  expect(await refused({ model: 'a\uFFFDb' })).toEqual(['a']);
  expect(await refused({ model: 'a\0b' })).toEqual(['a']);
});

it('finds a request without its organization, whether it was refused or not', async () => {
  await report({ latest: [request('req-lost', { organizationId: 'org-2' })] });
  await record({ generationId: 'gen-found' });
  const find = async (id: string) => (await admin.call(parts.foundRequests, { query: { id } })).data;
  expect(await find('req-lost')).toEqual([
    {
      ...{ organization_id: 'org-2', request_id: 'req-lost', generation_id: null },
      ...{ at: isoTime(NOON), error_code: 'rpm_exceeded' },
    },
  ]);
  const [found] = await find('gen-found');
  expect(found).toMatchObject({ organization_id: 'org-1', generation_id: 'gen-found', error_code: null });
  expect(await find(found!.request_id)).toEqual([found]);
  expect(await find('unknown\0')).toEqual([]);
});

it('sums refused requests by model, next to requests that were not refused', async () => {
  await report({ counts: [count({ requests: 3 }), count({ requests: 2, modelId: '' })] });
  await record({ generationId: 'gen-1', modelId: 'acme/m-1' });
  const groups = async (sort: 'refused' | 'requests') => {
    const query = {
      start: isoTime(NOON),
      end: isoTime(NOON + 1),
      granularity: 'hour',
      group_by: 'model',
    } as const;
    const { data } = await admin.call(endpoints.usage.groups, {
      ...paramsOf('org-1'),
      query: { ...query, sort },
    });
    return data.map(({ id, requests, refused }) => [id, requests, refused]);
  };
  expect(await groups('refused')).toEqual([
    ['acme/m-1', 1, 3],
    ['', 0, 2],
  ]);
  expect(await groups('requests')).toEqual(await groups('refused'));
  const top = await series({ split_by: 'model', top: '1', top_by: 'refused' });
  expect(top.data.map(({ model_id: model, refused }) => [model, refused])).toEqual([
    ['acme/m-1', 3],
    [null, 2],
  ]);
});
