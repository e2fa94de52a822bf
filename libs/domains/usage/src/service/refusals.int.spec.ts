import { DAY_MS, HOUR_MS, type UnixMs } from '@gateway/base';
import {
  GenerationReportsDefinition,
  UsageDimension,
  UsageGranularity,
} from '@gateway/contracts/generation-query';
import { RecordRefusalsRequest, UsageAggregatorDefinition } from '@gateway/contracts/usage-aggregator';
import { applyMigrations, createPool } from '@gateway/database';
import type { EventHandler } from '@gateway/events';
import { createClient, createInProcessTransport, type RpcClient } from '@gateway/rpc';
import { createMetrics } from '@gateway/runtime';
import { createTestClock, createTestDatabase, inProcessFor, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { createPostgresRefusalStore } from '../adapters/postgres/refusal-store';
import { createPostgresSettlementStore } from '../adapters/postgres/settlement-store';
import { createPostgresUsageReader } from '../adapters/postgres/usage-reader';
import { createPostgresUsageReconciler } from '../adapters/postgres/usage-reconciler';
import { USAGE_SCHEMA, usageSchema } from '../adapters/postgres/sql/schema';
import { logged, NOON, settled, type Settled } from '../testing/settled-events';
import { createGenerationQueryModule } from './generation-query/module';
import { createUsageAggregatorModule } from './usage-aggregator/module';

let database: TestDatabase;
let pool: Pool;
let reports: RpcClient<typeof GenerationReportsDefinition>;
let aggregator: RpcClient<typeof UsageAggregatorDefinition>;
let handle: EventHandler;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: USAGE_SCHEMA, applicationName: 'test', maxConnections: 4 });
  await applyMigrations(pool, usageSchema);
  const query = createGenerationQueryModule({ reader: createPostgresUsageReader(pool) });
  reports = createClient(GenerationReportsDefinition, inProcessFor(query.services));
  const clock = createTestClock(NOON);
  const module = createUsageAggregatorModule({
    store: createPostgresSettlementStore(pool),
    refusals: createPostgresRefusalStore(pool),
    reconciler: createPostgresUsageReconciler({ pool, clock }),
    clock,
    metrics: createMetrics({ processMetrics: false }),
  });
  handle = module.consumers[0]!.handle;
  aggregator = createClient(UsageAggregatorDefinition, createInProcessTransport(module.services));
});

beforeEach(() =>
  pool.query(
    `truncate generations, usage_rollups, usage_rollups_hourly, error_counts_hourly, refused_requests,
       refusal_reporters`,
  ),
);

afterAll(async () => {
  await pool.end();
  await database.drop();
});

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
  refusedUnixMs: BigInt(NOON),
  ...more,
});

let reporters = 0;
const report = (more: Partial<RecordRefusalsRequest>) =>
  aggregator.recordRefusals(
    RecordRefusalsRequest.fromPartial({ reporterId: `edge-${(reporters += 1)}`, reportNumber: 1n, ...more }),
  );
const record = (...events: Settled[]) => handle(events.map((each) => logged(settled(each))));
const errors = async (more: object = {}) => {
  const query = { organizationId: 'org-1', startUnixMs: BigInt(NOON), endUnixMs: BigInt(NOON + 1), ...more };
  const found = await reports.getErrorCounts({ modelId: undefined, keyId: undefined, ...query });
  return found.errors.map(({ errorCode, refused, failed }) => [errorCode, Number(refused), Number(failed)]);
};
const refused = async (more: object = {}) => {
  const query = {
    organizationId: 'org-1',
    requestId: undefined,
    keyId: undefined,
    model: undefined,
    limit: 200,
  };
  const { requests } = await reports.listRefusedRequests({ ...query, ...more });
  return requests.map(({ requestId }) => requestId);
};
const series = (more: object = {}) =>
  reports.getUsageSeries({
    organizationId: 'org-1',
    startUnixMs: BigInt(NOON),
    endUnixMs: BigInt(NOON + HOUR_MS),
    granularity: UsageGranularity.USAGE_GRANULARITY_HOUR,
    splitBy: [],
    modelId: undefined,
    keyId: undefined,
    ...more,
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
  expect(await errors({ projectId: 'proj-1' })).toEqual([]);
  expect(await errors({ projectId: '' })).toHaveLength(3);
  expect(await errors()).toEqual([
    ['rpm_exceeded', 3, 1],
    ['upstream_error', 0, 2],
    ['model_not_found', 1, 0],
  ]);
  expect(await errors({ keyId: 'key-2' })).toEqual([
    ['model_not_found', 1, 0],
    ['upstream_error', 0, 1],
  ]);
  expect(await errors({ modelId: 'acme/m-2' })).toEqual([['upstream_error', 0, 1]]);
  expect(await errors({ endUnixMs: BigInt(NOON + HOUR_MS + 1) })).toContainEqual(['rpm_exceeded', 4, 1]);
  expect(await errors({ organizationId: 'org-3' })).toEqual([]);
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
    const splitBy = [UsageDimension.USAGE_DIMENSION_MODEL];
    const { points, totals } = await series({ splitBy });
    expect(points.map(({ modelId, metrics }) => [modelId, metrics?.requests, metrics?.refused])).toEqual([
      ['', 0n, 5n],
      ['acme/m-1', 1n, 2n],
    ]);
    expect(totals).toMatchObject({ requests: 1n, errors: 0n, refused: 7n });
    const byDay = await series({
      granularity: UsageGranularity.USAGE_GRANULARITY_DAY,
      endUnixMs: BigInt(NOON + DAY_MS),
    });
    expect(byDay.points.map(({ startUnixMs, metrics }) => [startUnixMs, metrics?.refused])).toEqual([
      [BigInt(Date.UTC(2026, 10, 20)), 7n],
      [BigInt(Date.UTC(2026, 10, 21)), 7n],
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
    expect(totals).toMatchObject({ requests: 2n, errors: 1n });
    expect(totals?.duration?.meanMs).toBe(1_000);
    expect(totals?.duration?.p50Ms).toBeGreaterThan(750);
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
    expect(await refused({ limit: 3 })).toHaveLength(3);
  });

  it('are found by request, key and model, within one organization', async () => {
    await report({
      latest: [
        request('a', { refusedUnixMs: BigInt(NOON + 2) }),
        request('b', { keyId: 'key-2', refusedUnixMs: BigInt(NOON + 1), errorMessage: 'a "quoted" \\ text' }),
        request('c', { model: 'no/model' }),
        request('x', { organizationId: 'org-2' }),
      ],
    });
    expect(await refused()).toEqual(['a', 'b', 'c']);
    expect(await refused({ requestId: 'b' })).toEqual(['b']);
    expect(await refused({ requestId: 'x' })).toEqual([]);
    expect(await refused({ keyId: 'key-2' })).toEqual(['b']);
    expect(await refused({ model: 'no/model' })).toEqual(['c']);
    const query = { organizationId: 'org-1', requestId: 'b', keyId: undefined, model: undefined, limit: 1 };
    expect((await reports.listRefusedRequests(query)).requests).toEqual([
      {
        requestId: 'b',
        keyId: 'key-2',
        model: 'acme/m-1',
        errorCode: 'rpm_exceeded',
        errorMessage: 'a "quoted" \\ text',
        refusedUnixMs: BigInt(NOON + 1),
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
  expect(await errors({ endUnixMs: BigInt(NOON + 2 * HOUR_MS) })).toEqual([['rpm_exceeded', 1, 0]]);
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
  expect(await refused({ model: 'ab' })).toEqual(['a']);
});
