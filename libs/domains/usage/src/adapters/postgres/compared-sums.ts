import { DAY_MS, HOUR_MS, nanoUsd } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { ClientBase } from 'pg';
import type { Comparison, Subject, SumKind, Sums } from '../../core/reconciliation/compare';
import type { AnnouncedHour } from '../../core/reconciliation/settled-window';

/** The three sums that are compared. */
const SUM = (generations: string) => `
  coalesce(${generations}, 0)::bigint as generations, coalesce(sum(cost_nano_usd), 0)::bigint as cost,
  coalesce(sum(charged_nano_usd), 0)::bigint as charged`;

/** $1 organizations, $2 hours, $3 settled from (inclusive), $4 settled until (exclusive). */
const SETTLED = `
  select found.*
  from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) with ordinality
    as wanted (organization_id, hour, settled_from, settled_until, position)
  cross join lateral (
    select ${SUM('count(*)')} from generations
    where organization_id = wanted.organization_id collate "C"
      and created_unix_ms >= wanted.hour and created_unix_ms < wanted.hour + ${HOUR_MS}
      and settled_unix_ms >= wanted.settled_from and settled_unix_ms < wanted.settled_until
  ) found
  order by wanted.position`;

const OF_HOURS = (table: string, from: string, until: string) => `
  select ${SUM('sum(requests)')} from ${table}
  where organization_id = wanted.organization_id collate "C" and hour_unix_ms >= ${from} and hour_unix_ms < ${until}`;

const OF_DAY = (table: string) => `
  select ${SUM('sum(requests)')} from ${table}
  where organization_id = wanted.organization_id
    and day = (to_timestamp(wanted.starts / 1000) at time zone 'UTC')::date`;

const GENERATIONS_OF_HOUR = `
  from generations
  where organization_id = wanted.organization_id collate "C"
    and created_unix_ms >= wanted.starts and created_unix_ms < wanted.starts + ${HOUR_MS}`;

/** A row per end user and tag of each generation. */
const VALUES_OF_HOUR = `
  select ${SUM('count(*)')}
  from (
    select cost_nano_usd, charged_nano_usd ${GENERATIONS_OF_HOUR} and external_user <> ''
    union all
    select cost_nano_usd, charged_nano_usd
    from (select cost_nano_usd, charged_nano_usd, tags ${GENERATIONS_OF_HOUR} and tags is not null) tagged
    cross join lateral jsonb_object_keys(tags)
  ) valued`;

/** $1 organizations, $2 starts of hours or days. */
const COMPARE = (expected: string, found: string) => `
  select expected.generations as expected_generations, expected.cost as expected_cost,
    expected.charged as expected_charged, found.*
  from unnest($1::text[], $2::bigint[]) with ordinality as wanted (organization_id, starts, position)
  cross join lateral (${expected}) expected
  cross join lateral (${found}) found
  order by wanted.position`;

const HOUR = ['wanted.starts', `wanted.starts + ${HOUR_MS}`] as const;
const DAY = ['wanted.starts', `wanted.starts + ${DAY_MS}`] as const;

const COMPARISONS: Readonly<Record<SumKind, string>> = {
  hourly_sums: COMPARE(
    `select ${SUM('count(*)')} ${GENERATIONS_OF_HOUR}`,
    OF_HOURS('usage_rollups_hourly', ...HOUR),
  ),
  daily_sums: COMPARE(OF_HOURS('usage_rollups_hourly', ...DAY), OF_DAY('usage_rollups')),
  hourly_values: COMPARE(VALUES_OF_HOUR, OF_HOURS('usage_value_rollups_hourly', ...HOUR)),
  daily_values: COMPARE(OF_HOURS('usage_value_rollups_hourly', ...DAY), OF_DAY('usage_value_rollups')),
};

interface FoundRow {
  readonly generations: bigint;
  readonly cost: bigint;
  readonly charged: bigint;
}

interface ComparedRow extends FoundRow {
  readonly expected_generations: bigint;
  readonly expected_cost: bigint;
  readonly expected_charged: bigint;
}

/** Compares stored generations with announced settlements, in the given order. */
export async function compareSettlements(
  client: ClientBase,
  announced: readonly AnnouncedHour[],
): Promise<readonly Comparison[]> {
  const { rows } = await client.query<FoundRow>({
    name: 'usage.settled',
    text: SETTLED,
    values: [
      textArray(announced, ({ organizationId }) => organizationId),
      plainArray(announced, ({ startsAt }) => startsAt),
      plainArray(announced, ({ from }) => from),
      plainArray(announced, ({ until }) => until),
    ],
  });
  return announced.map(
    ({ organizationId, startsAt, from, generations, costNanoUsd, chargedNanoUsd }, index) => ({
      organizationId,
      kind: 'settlements',
      startsAt,
      from,
      expected: { generations, costNanoUsd, chargedNanoUsd },
      found: sumsOf(rows[index]),
    }),
  );
}

/** Compares sums with the rows that they summarize, in the given order. */
export async function compareSums(
  client: ClientBase,
  kind: SumKind,
  subjects: readonly Subject[],
): Promise<readonly Comparison[]> {
  const { rows } = await client.query<ComparedRow>({
    name: `usage.compare_${kind}`,
    text: COMPARISONS[kind],
    values: [
      textArray(subjects, ({ organizationId }) => organizationId),
      plainArray(subjects, ({ startsAt }) => startsAt),
    ],
  });
  return subjects.map((subject, index) => {
    const row = rows[index];
    const expected = row && {
      generations: row.expected_generations,
      cost: row.expected_cost,
      charged: row.expected_charged,
    };
    return { ...subject, expected: sumsOf(expected), found: sumsOf(row) };
  });
}

function sumsOf(row: FoundRow | undefined): Sums {
  if (!row) throw new Error('the database returned fewer sums than requested');
  return {
    generations: row.generations,
    costNanoUsd: nanoUsd(row.cost),
    chargedNanoUsd: nanoUsd(row.charged),
  };
}
