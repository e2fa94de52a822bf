import { DAY_MS, type UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import { createPostgresGenerationTables } from '../adapters/postgres/generation-tables';

interface SyntheticOptions {
  readonly rows: number;
  /** Generations span the 30 days before this time. */
  readonly end: UnixMs;
}

const INDEXES = `
  select indexname as name, indexdef as definition from pg_indexes
  where schemaname = current_schema() and tablename = 'generations' and indexname <> 'generations_pkey'`;

/**
 * Fills `generations` with 30 days of synthetic rows: half belong to "org-hot", the
 * others to a thousand organizations; 1 in 100 failed, 1 in 1,000 belongs to
 * "customer-1", 1 in 7 is of the API messages, 20 to "key-rare", and one in the middle to "model-rare". Indexes
 * are created afterwards, which is much faster.
 */
export async function syntheticGenerations(pool: Pool, { rows, end }: SyntheticOptions): Promise<void> {
  const start = end - 30 * DAY_MS;
  const tables = createPostgresGenerationTables(pool);
  for (const at of [start, end]) await tables.prepare(at as UnixMs);
  const indexes = (await pool.query<{ name: string; definition: string }>(INDEXES)).rows;
  for (const { name } of indexes) await pool.query(`drop index ${name}`);
  await pool.query(
    `insert into generations (
       id, organization_id, key_id, request_id, model_id, provider, provider_model, created_unix_ms, settled_unix_ms,
       day, streamed, cancelled, finish_reason, prompt_tokens, cached_tokens, cache_write_tokens,
       cache_write_1h_tokens, image_tokens, completion_tokens,
       reasoning_tokens, cost_nano_usd, charged_nano_usd, latency_ms, generation_time_ms, external_user, error_code,
       usage_source, status, time_to_first_token_ms, attempts, prices, project_id, api_type)
     select
       case when n = $1 / 2 then 'gen-rare' else 'gen-' || lpad(n::text, 26, '0') end,
       case when n % 2 = 0 then 'org-hot' when n = 5 then 'org-quiet' else 'org-' || n % 2000 end,
       case when n % ($1 / 20) = 0 then 'key-rare' else 'key-' || n % 50 end,
       'req_' || lpad(n::text, 26, '0'),
       case when n = $1 / 2 then 'model-rare' else 'model-' || n % 7 % 5 end,
       'acme', 'model', created, created + 1500,
       (to_timestamp(created / 1000) at time zone 'UTC')::date, true, false,
       case when n % 100 = 0 then 'error' else 'stop' end, 100, 10, 5, 0, 0, 200, 20, 1500000 + n % 1000, 1500000 + n % 1000,
       300, 1200, case when n % 1000 = 0 then 'customer-1' end, case when n % 100 = 0 then 'upstream_error' end,
       'provider', case when n % 100 = 0 then 'failed' else 'completed' end, 400,
       '[{"provider":"acme","provider_model":"model","outcome":"ok","duration_ms":1500}]'::jsonb,
       'input=150000000 cached_input=75000000 output=600000000', '', case when n % 7 = 0 then 'messages' else 'completions' end
     from (select n, $2::bigint + (n * $3::numeric / $1)::bigint as created from generate_series(0, $1 - 1) n) as generated`,
    [rows, start, 30 * DAY_MS],
  );
  // The definition of a partitioned index says ON ONLY, which excludes the partitions.
  for (const { definition } of indexes) await pool.query(definition.replace(' ON ONLY ', ' ON '));
  await pool.query('analyze generations');
}
