import { DAY_MS, nanoUsd, type UnixMs } from '@gateway/base';
import { applyMigrations, createPool } from '@gateway/database';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import type { GenerationFilter } from '../../core/list-generations';
import { syntheticGenerations } from '../../testing/synthetic-generations';
import { MAX_SCANNED_ROWS, scanStatements } from './generation-scan';
import { FIND_REFUSED_ANYWHERE } from './refusal-store';
import { createPostgresUsageReader, FIND_ANYWHERE } from './usage-reader';
import { USAGE_SCHEMA, usageSchema } from './sql/schema';
import { READ_ORGANIZATIONS } from './usage-summary';

const ROWS = 1_000_000;
const END = Date.UTC(2026, 10, 20);
const TIMEOUT_MS = 120_000;

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({
    url: database.url,
    schema: USAGE_SCHEMA,
    applicationName: 'test',
    maxConnections: 2,
    queryTimeoutMs: TIMEOUT_MS,
  });
  await applyMigrations(pool, usageSchema);
  await syntheticGenerations(pool, { rows: ROWS, end: END as UnixMs });
}, TIMEOUT_MS);

afterAll(async () => {
  await pool.end();
  await database.drop();
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Explains a statement: the rows that its scans read, and its sequential scans. */
async function explain(text: string, values: readonly unknown[]) {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, format json) ${text}`,
    [...values],
  );
  const nodes: PlanNode[] = [];
  const walk = (node: PlanNode): void => {
    nodes.push(node);
    node.Plans?.forEach(walk);
  };
  walk(rows[0]!['QUERY PLAN'][0].Plan);
  const scans = nodes.filter((node) => node['Node Type'].includes('Scan'));
  const touched = scans
    .filter((node) => node['Node Type'] !== 'Subquery Scan')
    .reduce(
      (sum, node) =>
        sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    );
  return {
    touched,
    seqScans: nodes.filter(
      (node) => node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0 && node['Actual Rows'] > 0,
    ).length,
  };
}

const all: GenerationFilter = {
  organizationId: 'org-hot',
  since: undefined,
  until: undefined,
  modelId: undefined,
  keyId: undefined,
  externalUser: undefined,
  tag: undefined,
  apiType: undefined,
  status: undefined,
  errorCode: undefined,
  projectId: undefined,
  minCostNanoUsd: undefined,
  maxCostNanoUsd: undefined,
};
const middleCursor = { createdAt: (END - 15 * DAY_MS) as UnixMs, id: 'gen-x' };

it.each([
  ['the first page', all, undefined, 200],
  ['a page in the middle', all, middleCursor, 200],
  [
    'of one day',
    { ...all, since: (END - 9 * DAY_MS) as UnixMs, until: (END - 8 * DAY_MS) as UnixMs },
    undefined,
    200,
  ],
  ['of a rarely used key', { ...all, keyId: 'key-rare' }, undefined, 200],
  ['of one external user', { ...all, externalUser: 'customer-1' }, undefined, 200],
  ['of failed generations', { ...all, status: 'failed' }, undefined, 500],
  // A bitmap scan counts its rows twice: in the index and in the table.
  ['of an error code', { ...all, errorCode: 'upstream_error' }, undefined, 2 * MAX_SCANNED_ROWS],
  ['of an unused tag', { ...all, tag: { name: 'team', value: 'x' } }, middleCursor, MAX_SCANNED_ROWS + 500],
  ['of an unused project', { ...all, projectId: 'proj-x' }, middleCursor, MAX_SCANNED_ROWS + 500],
  ['of failed generations, in the middle', { ...all, status: 'failed' }, middleCursor, 500],
  ['of completed generations', { ...all, status: 'completed' }, middleCursor, 500],
  [
    'of completed generations without a match',
    { ...all, status: 'completed', minCostNanoUsd: nanoUsd(10n ** 15n) },
    middleCursor,
    MAX_SCANNED_ROWS + 500,
  ],
  ['of a frequently used model', { ...all, modelId: 'model-0' }, undefined, 500],
  ['of a frequently used API', { ...all, apiType: 'messages' }, undefined, 800],
  ['of an unused API', { ...all, apiType: 'responses' }, middleCursor, MAX_SCANNED_ROWS + 500],
  ['of an unused model', { ...all, modelId: 'model-unknown' }, undefined, MAX_SCANNED_ROWS + 500],
  ['of rare costs', { ...all, minCostNanoUsd: nanoUsd(10n ** 15n) }, middleCursor, MAX_SCANNED_ROWS + 500],
  ['of a small organization', { ...all, organizationId: 'org-quiet' }, undefined, 300],
] as const)(
  'a list %s reads few rows of a million',
  async (_name, filter, after, most) => {
    const { matches, end, mayStop } = scanStatements(filter as GenerationFilter, after, 51);
    const plan = await explain(matches.text, matches.values);
    expect(plan).toMatchObject({ seqScans: 0 });
    expect(plan.touched).toBeLessThanOrEqual(most);
    if (mayStop)
      expect((await explain(end.text, end.values)).touched).toBeLessThanOrEqual(
        Math.max(most, MAX_SCANNED_ROWS + 500),
      );
  },
  TIMEOUT_MS,
);

it(
  'the figures of organizations read the rollups once, where one organization has most of them',
  async () => {
    const rollups = 90_000;
    await pool.query(
      `insert into usage_rollups
       select filled.* from generate_series(1, ${rollups}) number,
         (select jsonb_object_agg(column_name, 0) as zeros from information_schema.columns
          where table_schema = $1 and table_name = 'usage_rollups' and data_type = 'bigint') defaults,
         jsonb_populate_record(null::usage_rollups, zeros || jsonb_build_object(
           'organization_id', case when number % 100 = 0 then 'org-' || number % 300 else 'org-hot' end,
           'day', date '2026-11-20' - number % 30, 'model_id', 'model-' || number % 50,
           'key_id', 'key-' || number, 'project_id', '', 'api_type', 'completions', 'requests', 1)) filled`,
      [USAGE_SCHEMA],
    );
    await pool.query('analyze usage_rollups');
    const organizations = Array.from({ length: 200 }, (_, number) => `org-${number}`);
    const wanted = [['org-hot', ...organizations], '2026-10-22', '2026-11-20'];
    const { touched } = await explain(READ_ORGANIZATIONS, wanted);
    expect(touched).toBeLessThan(2 * rollups);
  },
  TIMEOUT_MS,
);

it(
  'a request is found without its organization by indexes only',
  async () => {
    const {
      found: [some],
    } = await createPostgresUsageReader(pool).scan(all, undefined, 1);
    const generation = await explain(FIND_ANYWHERE, [some!.requestId, 10]);
    expect(generation).toMatchObject({ seqScans: 0 });
    expect(generation.touched).toBeLessThanOrEqual(10);
    await pool.query(
      `insert into refused_requests
       select 'req-' || number, 'org-' || number % 2000, 'key', 'model', 'code', 'text', 'completions', number
       from generate_series(1, 40000) number`,
    );
    await pool.query('analyze refused_requests');
    const refused = await explain(FIND_REFUSED_ANYWHERE, ['req-4711', 10]);
    expect(refused).toEqual({ seqScans: 0, touched: 1 });
  },
  TIMEOUT_MS,
);

it('a page, a search and a lookup read only through indexes', async () => {
  const reader = createPostgresUsageReader(pool);
  const statistics = async () => {
    // Otherwise the statistics of this session are flushed only when it is idle.
    await pool.query('select pg_stat_force_next_flush()');
    await pool.query('select pg_stat_clear_snapshot()');
    const { rows } = await pool.query<{ read: bigint }>(
      `select coalesce(sum(seq_tup_read), 0)::bigint as read from pg_stat_user_tables where relname ~ '^generations_'`,
    );
    return rows[0]!.read;
  };
  const before = await statistics();
  const { found } = await reader.scan(all, undefined, 50);
  expect(found).toHaveLength(50);
  const [some] = found;
  expect(await reader.findGeneration('org-hot', some!.id)).toEqual(some);
  expect(await reader.findByIds('org-hot', some!.id, 10)).toEqual([some]);
  expect(await reader.findByIds('org-hot', some!.requestId, 10)).toEqual([some]);
  expect(await reader.findByIds('org-hot', 'unknown', 10)).toEqual([]);
  expect(await reader.findGenerationsAnywhere(some!.id, 10)).toEqual([some]);
  expect(await reader.findGenerationsAnywhere(some!.requestId, 10)).toEqual([some]);
  expect((await reader.readNow('org-hot', (END - 1) as UnixMs)).latestGenerationId).toBe(some!.id);
  expect((await statistics()) - before).toBe(0n);
});

it(
  'a rare match is found by continuing where the scan stopped',
  async () => {
    const reader = createPostgresUsageReader(pool);
    const first = await reader.scan({ ...all, modelId: 'model-rare' }, undefined, 51);
    expect(first).toMatchObject({
      found: [],
      stoppedAt: expect.objectContaining({ id: expect.any(String) }),
    });
    let { stoppedAt } = first;
    let rounds = 0;
    let found: readonly { id: string }[] = [];
    while (found.length === 0 && stoppedAt && rounds < 100) {
      ({ found, stoppedAt } = await reader.scan({ ...all, modelId: 'model-rare' }, stoppedAt, 51));
      rounds += 1;
    }
    expect(found.map(({ id }) => id)).toEqual(['gen-rare']);
  },
  TIMEOUT_MS,
);
