import { nanoUsd, type UnixMs, type UtcDay } from '@gateway/base';
import type { Pool } from 'pg';
import {
  summaryPeriods,
  type Margin,
  type ModelUse,
  type OrganizationUsage,
  type PlatformUsage,
  type UsageSummary,
  type UsageTotals,
} from '../../core/usage-summary';

const MAX_TOP_KEYS = 5;

const SUMS = `
  coalesce(sum(requests), 0)::bigint as requests,
  coalesce(sum(errors), 0)::bigint as errors,
  coalesce(sum(charged_nano_usd), 0)::bigint as charged_nano_usd`;

/** For operators only. */
const MARGIN_SUMS = `
  coalesce(sum(charged_with_provider_cost_nano_usd), 0)::bigint as charged_with_provider_cost_nano_usd,
  coalesce(sum(provider_cost_nano_usd), 0)::bigint as provider_cost_nano_usd`;

/** $1 organization, $2 and $3 first and last day. */
const READ_CURRENT = `
  select ${SUMS} from usage_rollups where organization_id = $1 and day between $2::date and $3::date`;

/** $1 organization, $2 first day, $3 last day, $4 and $5 start and end of the part of the last day. */
const READ_PREVIOUS = `
  select ${SUMS}
  from (
    select requests, errors, charged_nano_usd from usage_rollups
    where organization_id = $1 and day >= $2::date and day < $3::date
    union all
    select requests, errors, charged_nano_usd from usage_rollups_hourly
    where organization_id = $1 and hour_unix_ms >= $4::bigint and hour_unix_ms < $5::bigint
  ) periods`;

/** $1 organization, $2 and $3 start and end. */
const READ_HOURS = `
  select ${SUMS} from usage_rollups_hourly
  where organization_id = $1 and hour_unix_ms >= $2::bigint and hour_unix_ms < $3::bigint`;

/** $1 organization, $2 and $3 first and last day, $4 max keys. */
const READ_TOP_KEYS = `
  select key_id, ${SUMS}
  from usage_rollups
  where organization_id = $1 and day between $2::date and $3::date
  group by key_id
  having sum(charged_nano_usd) > 0
  order by sum(charged_nano_usd) desc, key_id
  limit $4`;

/**
 * $1 organizations, $2 and $3 first and last day. One scan sums all of them: one per organization reads the whole table each
 * time where few organizations have most rows. The last use is one index lookup per organization and month.
 */
export const READ_ORGANIZATIONS = `
  with totals as (
    select organization_id, ${SUMS}, ${MARGIN_SUMS} from usage_rollups
    where organization_id = any($1::text[]) and day between $2::date and $3::date
    group by organization_id
  )
  select wanted.organization_id,
         coalesce(requests, 0) as requests,
         coalesce(errors, 0) as errors,
         coalesce(charged_nano_usd, 0) as charged_nano_usd,
         coalesce(charged_with_provider_cost_nano_usd, 0) as charged_with_provider_cost_nano_usd,
         coalesce(provider_cost_nano_usd, 0) as provider_cost_nano_usd,
         (select max(g.created_unix_ms) from generations g where g.organization_id = wanted.organization_id)
           as last_used_unix_ms
  from unnest($1::text[]) with ordinality as wanted (organization_id, position)
  left join totals on totals.organization_id = wanted.organization_id
  order by wanted.position`;

/** $1 models, $2 and $3 first and last day. */
const READ_MODELS = `
  select model_id,
         count(distinct organization_id) as organizations,
         count(distinct (organization_id, key_id)) as keys,
         sum(requests)::bigint as requests
  from usage_rollups
  where model_id = any($1::text[]) and day between $2::date and $3::date
  group by model_id
  order by model_id`;

/** $1 and $2 first and last day. One scan sums all of it, each day and each model. */
const READ_ALL = `
  select to_char(day, 'YYYY-MM-DD') as day, model_id, ${SUMS}, ${MARGIN_SUMS}
  from usage_rollups
  where day between $1::date and $2::date
  group by grouping sets ((), (day), (model_id))
  order by day desc nulls last, sum(charged_nano_usd) desc, model_id`;

/** As above. The sums by model have no provider. */
const READ_PROVIDERS = `
  select provider, ${SUMS}, ${MARGIN_SUMS}
  from usage_provider_rollups
  where day between $1::date and $2::date
  group by provider
  order by sum(charged_nano_usd) desc, provider`;

interface PlatformRow extends MarginRow {
  readonly day: UtcDay | null;
  readonly model_id: string | null;
}

interface TotalsRow {
  readonly requests: bigint;
  readonly errors: bigint;
  readonly charged_nano_usd: bigint;
}

interface MarginRow extends TotalsRow {
  readonly charged_with_provider_cost_nano_usd: bigint;
  readonly provider_cost_nano_usd: bigint;
}

export async function readSummary(pool: Pool, organizationId: string, now: UnixMs): Promise<UsageSummary> {
  const periods = summaryPeriods(now);
  const { firstDay, today, previousFirstDay, previousLastDay } = periods;
  const current = await readTotals(pool, READ_CURRENT, [organizationId, firstDay, today]);
  const previous = await readTotals(pool, READ_PREVIOUS, [
    ...[organizationId, previousFirstDay, previousLastDay],
    ...[periods.previousLastDayStart, periods.previousEnd],
  ]);
  const week = await readTotals(pool, READ_HOURS, [
    organizationId,
    periods.averagedFrom,
    periods.averagedUntil,
  ]);
  const { rows } = await pool.query<TotalsRow & { readonly key_id: string }>(READ_TOP_KEYS, [
    ...[organizationId, firstDay, today],
    MAX_TOP_KEYS,
  ]);
  return {
    current,
    previous,
    chargedLast7DaysNanoUsd: week.chargedNanoUsd,
    topKeys: rows.map((row) => ({ keyId: row.key_id, totals: totalsOf(row) })),
  };
}

export async function readModelUse(
  pool: Pool,
  modelIds: readonly string[],
  now: UnixMs,
): Promise<readonly ModelUse[]> {
  const { firstDay, today } = summaryPeriods(now);
  const { rows } = await pool.query<Omit<ModelUse, 'modelId'> & { readonly model_id: string }>(READ_MODELS, [
    modelIds,
    firstDay,
    today,
  ]);
  return rows.map(({ model_id: modelId, ...counts }) => ({ modelId, ...counts }));
}

export async function readOrganizationUsage(
  pool: Pool,
  organizationIds: readonly string[],
  now: UnixMs,
): Promise<readonly OrganizationUsage[]> {
  const { firstDay, today } = summaryPeriods(now);
  const { rows } = await pool.query<
    MarginRow & { readonly organization_id: string; readonly last_used_unix_ms: bigint | null }
  >(READ_ORGANIZATIONS, [organizationIds, firstDay, today]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    totals: totalsOf(row),
    margin: marginOf(row),
    lastUsedAt: row.last_used_unix_ms === null ? undefined : (Number(row.last_used_unix_ms) as UnixMs),
  }));
}

const NO_USAGE: UsageTotals = { requests: 0n, errors: 0n, chargedNanoUsd: nanoUsd(0n) };

export async function readPlatformUsage(pool: Pool, now: UnixMs): Promise<PlatformUsage> {
  const { firstDay, today } = summaryPeriods(now);
  const [{ rows }, ofProviders] = await Promise.all([
    pool.query<PlatformRow>(READ_ALL, [firstDay, today]),
    pool.query<MarginRow & { readonly provider: string }>(READ_PROVIDERS, [firstDay, today]),
  ]);
  const part = (row: MarginRow) => ({ totals: totalsOf(row), margin: marginOf(row) });
  const all = rows.find((row) => row.day === null && row.model_id === null);
  if (!all) throw new Error('a sum returned no row');
  const days = rows.flatMap((row) => (row.day === null ? [] : [{ day: row.day, ...part(row) }]));
  return {
    today: days.find(({ day }) => day === today)?.totals ?? NO_USAGE,
    last30Days: totalsOf(all),
    margin: marginOf(all),
    days,
    models: rows.flatMap((row) => (row.model_id === null ? [] : [{ modelId: row.model_id, ...part(row) }])),
    providers: ofProviders.rows.map((row) => ({ provider: row.provider, ...part(row) })),
  };
}

async function readTotals(
  pool: Pool,
  text: string,
  values: readonly (string | number)[],
): Promise<UsageTotals> {
  return totalsOf(await readRow<TotalsRow>(pool, text, values));
}

async function readRow<Row extends TotalsRow>(
  pool: Pool,
  text: string,
  values: readonly (string | number)[],
): Promise<Row> {
  const { rows } = await pool.query<Row>(text, [...values]);
  const [row] = rows;
  if (!row) throw new Error('a sum returned no row');
  return row;
}

function marginOf(row: MarginRow): Margin {
  return {
    chargedNanoUsd: nanoUsd(row.charged_with_provider_cost_nano_usd),
    providerCostNanoUsd: nanoUsd(row.provider_cost_nano_usd),
  };
}

function totalsOf(row: TotalsRow): UsageTotals {
  return { requests: row.requests, errors: row.errors, chargedNanoUsd: nanoUsd(row.charged_nano_usd) };
}
