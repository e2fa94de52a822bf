import { applyMigrations, createPool } from '@gateway/database';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import {
  createPostgresSettlementStore,
  createPostgresUsageReader,
  USAGE_SCHEMA,
  usageMigrations,
} from '../../index';
import { Prisma } from './generated/client';
import type { UnixMs } from '@gateway/base';

const BEFORE_PARTITIONS = 2;

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: USAGE_SCHEMA, applicationName: 'test', maxConnections: 4 });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

const at = (month: number, day: number, hour: number) => Date.UTC(2026, month - 1, day, hour, 59, 59, 999);

/** As the version before wrote it. */
async function writeOldGeneration(
  id: string,
  createdUnixMs: number,
  more: { errorCode?: string; cost: number },
) {
  await pool.query(
    `insert into generations values ($1, 'org-1', 'key-1', 'req-1', 'acme/m', 'acme', 'm', $2, $3, $4, true, false,
       $5, 10, 1, 2, 20, 5, $6, $6, 300, 900, null, $7, 'provider')`,
    [
      id,
      createdUnixMs,
      createdUnixMs + 5_000,
      new Date(createdUnixMs).toISOString().slice(0, 10),
      more.errorCode ? 'error' : 'stop',
      more.cost,
      more.errorCode ?? null,
    ],
  );
  await pool.query(
    `insert into usage_rollups values ('org-1', $1, 'acme/m', 'key-1', 1, 10, 20, 5, 1, $2, $2)
     on conflict (organization_id, day, model_id, key_id) do update set requests = usage_rollups.requests + 1,
       cost_nano_usd = usage_rollups.cost_nano_usd + excluded.cost_nano_usd`,
    [new Date(createdUnixMs).toISOString().slice(0, 10), more.cost],
  );
}

it('takes the generations of a version without months along, and makes their hourly sums', async () => {
  await applyMigrations(pool, {
    schema: USAGE_SCHEMA,
    migrations: usageMigrations.slice(0, BEFORE_PARTITIONS),
  });
  await writeOldGeneration('gen-1', at(9, 30, 23), { cost: 5 });
  await writeOldGeneration('gen-2', at(10, 1, 0), { cost: 70 });
  await writeOldGeneration('gen-3', at(10, 1, 0), { cost: 900, errorCode: 'upstream_error' });
  await writeOldGeneration('gen-4', 0, { cost: 1 });

  await applyMigrations(pool, { schema: USAGE_SCHEMA, migrations: usageMigrations });

  const { rows } = await pool.query<{ part: string; id: string; status: string }>(
    'select tableoid::regclass::text as part, id, status from generations order by id',
  );
  expect(rows).toEqual([
    { part: 'generations_until_20261001', id: 'gen-1', status: 'completed' },
    { part: 'generations_until_20261101', id: 'gen-2', status: 'completed' },
    { part: 'generations_until_20261101', id: 'gen-3', status: 'failed' },
    { part: 'generations_default', id: 'gen-4', status: 'completed' },
  ]);
  const hours = await pool.query(
    `select hour_unix_ms, requests, errors, image_tokens, cost_nano_usd, duration_ms, duration_to_1500_ms, first_token_count
     from usage_rollups_hourly where hour_unix_ms > 0 order by 1`,
  );
  const sums = { image_tokens: 2n, first_token_count: 0n };
  expect(hours.rows).toEqual([
    {
      ...sums,
      hour_unix_ms: BigInt(Date.UTC(2026, 8, 30, 23)),
      requests: 1n,
      errors: 0n,
      cost_nano_usd: 5n,
      duration_ms: 1_200n,
      duration_to_1500_ms: 1n,
    },
    {
      ...sums,
      hour_unix_ms: BigInt(Date.UTC(2026, 9, 1)),
      requests: 2n,
      errors: 1n,
      image_tokens: 4n,
      cost_nano_usd: 970n,
      duration_ms: 2_400n,
      duration_to_1500_ms: 2n,
    },
  ]);
  const days = await pool.query(
    `select requests, errors, cost_nano_usd, duration_ms from usage_rollups where day = '2026-10-01'`,
  );
  expect(days.rows).toEqual([{ requests: 2n, errors: 1n, cost_nano_usd: 970n, duration_ms: 2_400n }]);

  const reader = createPostgresUsageReader(pool);
  expect(await reader.findGeneration('org-1', 'gen-3')).toMatchObject({
    errorCode: 'upstream_error',
    prices: undefined,
    attempts: undefined,
    timeToFirstTokenMs: undefined,
  });
});

describe('the tables of months', () => {
  const now = Date.UTC(2027, 0, 31) as UnixMs;
  const months = async () =>
    (
      await pool.query<{ name: string }>(
        `select relname as name from pg_class where relname ~ '^generations_until_\\d+$' order by 1`,
      )
    ).rows.map(({ name }) => name);

  it('are made for this month and the next, by any number of processes at once', async () => {
    const store = createPostgresSettlementStore(pool);
    await Promise.all([store.prepare(now), store.prepare(now)]);
    expect(await months()).toEqual(
      expect.arrayContaining(['generations_until_20270201', 'generations_until_20270301']),
    );
  });

  it('take in what came before them', async () => {
    await pool.query(
      `insert into generations select 'gen-5', organization_id, key_id, request_id, model_id, provider, provider_model,
      $1, settled_unix_ms, day, streamed, cancelled, finish_reason, prompt_tokens, cached_tokens, image_tokens, completion_tokens,
      reasoning_tokens, cost_nano_usd, charged_nano_usd, latency_ms, generation_time_ms, external_user, error_code, usage_source, status
      from generations where id = 'gen-1'`,
      [Date.UTC(2027, 3, 1)],
    );
    await createPostgresSettlementStore(pool).prepare(Date.UTC(2027, 3, 30) as UnixMs);
    const { rows } = await pool.query<{ part: string }>(
      `select tableoid::regclass::text as part from generations where id = 'gen-5'`,
    );
    expect(rows).toEqual([{ part: 'generations_until_20270501' }]);
  });

  it('are dropped when the last of their generations is old enough, and the sums stay', async () => {
    const store = createPostgresSettlementStore(pool);
    expect(await store.dropBefore((Date.UTC(2026, 10, 1) - 1) as UnixMs)).toBe(1);
    expect(await months()).not.toContain('generations_until_20261001');
    expect(await months()).toContain('generations_until_20261101');
    const { rows } = await pool.query<{ id: string }>('select id from generations order by id');
    expect(rows.map(({ id }) => id)).toEqual(['gen-2', 'gen-3', 'gen-5']);
    const sums = await pool.query<{ requests: bigint }>(
      'select sum(requests)::bigint as requests from usage_rollups_hourly',
    );
    expect(sums.rows[0]?.requests).toBe(4n);
  });
});

it('has a Prisma model with just the columns of its table', async () => {
  const { rows } = await pool.query<{ column_name: string }>(
    `select column_name from information_schema.columns where table_schema = $1 and table_name = 'generations'`,
    [USAGE_SCHEMA],
  );
  const columns = rows.map(({ column_name: name }) => name.replaceAll('_', '')).sort();
  expect(columns).toEqual(
    Object.keys(Prisma.GenerationScalarFieldEnum)
      .map((field) => field.toLowerCase())
      .sort(),
  );
});
