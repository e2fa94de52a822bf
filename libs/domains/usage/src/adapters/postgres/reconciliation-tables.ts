import { nanoUsd, type UnixMs } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { ClientBase, Pool } from 'pg';
import { differs, type Comparison, type Difference, type Subject } from '../../core/reconciliation/compare';
import type { UsageReconciliation } from '../../core/ports';
import type { AnnouncedHour } from '../../core/reconciliation/settled-window';

/** Bounds the result when most sums are wrong. */
const MAX_DIFFERENCES = 1_000;

/** A repeated announcement replaces the earlier one and is compared again. */
const STORE = `
  insert into announced_settlements as known
    (organization_id, from_unix_ms, until_unix_ms, hour_unix_ms, generations, cost_nano_usd, charged_nano_usd)
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
  on conflict (organization_id, from_unix_ms, hour_unix_ms) do update set
    until_unix_ms = excluded.until_unix_ms, generations = excluded.generations,
    cost_nano_usd = excluded.cost_nano_usd, charged_nano_usd = excluded.charged_nano_usd, compared_unix_ms = 0`;

const READ_ANNOUNCED = `
  select organization_id, from_unix_ms, until_unix_ms, hour_unix_ms, generations, cost_nano_usd, charged_nano_usd
  from announced_settlements order by compared_unix_ms, from_unix_ms limit $1`;

const READ_DIFFERING_SUMS = `
  select organization_id, kind, starts_unix_ms, from_unix_ms from reconciliation_differences
  where kind <> 'settlements' order by last_seen_unix_ms limit ${MAX_DIFFERENCES}`;

/** $1 to $3 organizations, windows and hours of announcements that match. */
const DELETE_MATCHING_SETTLEMENTS = `
  delete from announced_settlements announced
  using unnest($1::text[], $2::bigint[], $3::bigint[]) as matching (organization_id, from_unix_ms, hour_unix_ms)
  where announced.organization_id = matching.organization_id and announced.from_unix_ms = matching.from_unix_ms
    and announced.hour_unix_ms = matching.hour_unix_ms`;

/** $1 to $3 as above, of announcements that do not match; $4 now. */
const MARK_DIFFERING_SETTLEMENTS = `
  update announced_settlements announced set compared_unix_ms = $4
  from unnest($1::text[], $2::bigint[], $3::bigint[]) as differing (organization_id, from_unix_ms, hour_unix_ms)
  where announced.organization_id = differing.organization_id and announced.from_unix_ms = differing.from_unix_ms
    and announced.hour_unix_ms = differing.hour_unix_ms`;

/** $1 to $4 subjects that match. Also deletes differences whose announcement was deleted. */
const DELETE_RESOLVED_DIFFERENCES = `
  delete from reconciliation_differences known
  where (organization_id, kind, starts_unix_ms, from_unix_ms)
      in (select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]))
    or kind = 'settlements' and not exists (
      select from announced_settlements announced
      where announced.organization_id = known.organization_id and announced.from_unix_ms = known.from_unix_ms
        and announced.hour_unix_ms = known.starts_unix_ms)`;

/** $1 to $4 subjects that differ, $5 to $7 expected sums, $8 to $10 found sums, $11 now. */
const UPSERT_DIFFERENCES = `
  insert into reconciliation_differences as known
  select differing.*, $11::bigint, $11::bigint
  from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::bigint[]) as differing
  on conflict (organization_id, kind, starts_unix_ms, from_unix_ms) do update set
    expected_generations = excluded.expected_generations,
    expected_cost_nano_usd = excluded.expected_cost_nano_usd,
    expected_charged_nano_usd = excluded.expected_charged_nano_usd,
    found_generations = excluded.found_generations, found_cost_nano_usd = excluded.found_cost_nano_usd,
    found_charged_nano_usd = excluded.found_charged_nano_usd, last_seen_unix_ms = excluded.last_seen_unix_ms`;

const ADVANCE = `
  insert into reconciliation_progress as progress (compared_until_unix_ms) values ($1)
  on conflict (is_the_only_row) do update
    set compared_until_unix_ms = greatest(progress.compared_until_unix_ms, excluded.compared_until_unix_ms)
  returning compared_until_unix_ms`;

const DIFFERENCES = `
  select * from reconciliation_differences
  order by first_seen_unix_ms, organization_id, kind, starts_unix_ms limit $1`;

/** Differences shown to operators. */
const MAX_SHOWN = 50;

const PROGRESS = `
  select
    (select compared_until_unix_ms from reconciliation_progress where compared_until_unix_ms > 0) as compared_until,
    (select count(*) from (select from reconciliation_differences limit ${MAX_DIFFERENCES}) known) as known`;

interface AnnouncedRow {
  readonly organization_id: string;
  readonly from_unix_ms: bigint;
  readonly until_unix_ms: bigint;
  readonly hour_unix_ms: bigint;
  readonly generations: bigint;
  readonly cost_nano_usd: bigint;
  readonly charged_nano_usd: bigint;
}

interface SubjectRow {
  readonly organization_id: string;
  readonly kind: Subject['kind'];
  readonly starts_unix_ms: bigint;
  readonly from_unix_ms: bigint;
}

interface DifferenceRow extends SubjectRow {
  readonly expected_generations: bigint;
  readonly expected_cost_nano_usd: bigint;
  readonly expected_charged_nano_usd: bigint;
  readonly found_generations: bigint;
  readonly found_cost_nano_usd: bigint;
  readonly found_charged_nano_usd: bigint;
  readonly first_seen_unix_ms: bigint;
}

export async function storeAnnounced(pool: Pool, announced: readonly AnnouncedHour[]): Promise<void> {
  if (announced.length === 0) return;
  // A statement can update a row once only, so the last copy counts.
  const distinct = [...new Map(announced.map((hour) => [keyOfAnnounced(hour), hour])).values()];
  await pool.query({
    name: 'usage.store_announced_settlements',
    text: STORE,
    values: [
      textArray(distinct, ({ organizationId }) => organizationId),
      plainArray(distinct, ({ from }) => from),
      plainArray(distinct, ({ until }) => until),
      plainArray(distinct, ({ startsAt }) => startsAt),
      plainArray(distinct, ({ generations }) => generations),
      plainArray(distinct, ({ costNanoUsd }) => costNanoUsd),
      plainArray(distinct, ({ chargedNanoUsd }) => chargedNanoUsd),
    ],
  });
}

/** Announcements without a comparison first, then those compared longest ago. */
export async function readAnnounced(client: ClientBase, limit: number): Promise<readonly AnnouncedHour[]> {
  const { rows } = await client.query<AnnouncedRow>({
    name: 'usage.read_announced_settlements',
    text: READ_ANNOUNCED,
    values: [limit],
  });
  return rows.map((row) => ({
    organizationId: row.organization_id,
    from: timeOf(row.from_unix_ms),
    until: timeOf(row.until_unix_ms),
    startsAt: timeOf(row.hour_unix_ms),
    generations: row.generations,
    costNanoUsd: nanoUsd(row.cost_nano_usd),
    chargedNanoUsd: nanoUsd(row.charged_nano_usd),
  }));
}

/** Sums that differed before. */
export async function readDifferingSums(client: ClientBase): Promise<readonly Subject[]> {
  const { rows } = await client.query<SubjectRow>({
    name: 'usage.read_differing_sums',
    text: READ_DIFFERING_SUMS,
  });
  return rows.map(subjectOf);
}

export interface Compared {
  readonly compared: readonly Comparison[];
  /** The announcements of the compared settlements. */
  readonly announced: readonly AnnouncedHour[];
  readonly now: UnixMs;
}

/** Deletes what matches and stores what differs. Returns the latest end of compared settlements. */
export async function recordComparisons(
  client: ClientBase,
  { compared, announced, now }: Compared,
): Promise<UnixMs> {
  const differing = compared.filter(differs);
  const matching = compared.filter((one) => !differs(one));
  const isOfLedger = ({ kind }: Subject) => kind === 'settlements';
  await client.query(DELETE_MATCHING_SETTLEMENTS, keysOfAnnounced(matching.filter(isOfLedger)));
  await client.query(MARK_DIFFERING_SETTLEMENTS, [...keysOfAnnounced(differing.filter(isOfLedger)), now]);
  await client.query(DELETE_RESOLVED_DIFFERENCES, keysOf(matching));
  await client.query(UPSERT_DIFFERENCES, [
    ...keysOf(differing),
    ...[(one: Comparison) => one.expected, (one: Comparison) => one.found].flatMap((sums) => [
      plainArray(differing, (one) => sums(one).generations),
      plainArray(differing, (one) => sums(one).costNanoUsd),
      plainArray(differing, (one) => sums(one).chargedNanoUsd),
    ]),
    now,
  ]);
  const until = announced.reduce((latest, { until }) => Math.max(latest, until), 0);
  const { rows } = await client.query<{ compared_until_unix_ms: bigint }>(ADVANCE, [until]);
  return timeOf(rows[0]?.compared_until_unix_ms ?? 0n);
}

/** The results of the runs of all processes. */
export async function readReconciliation(pool: Pool): Promise<UsageReconciliation> {
  const { rows } = await pool.query<{ compared_until: bigint | null; known: bigint }>(PROGRESS);
  const until = rows[0]?.compared_until ?? null;
  return {
    comparedUntil: until === null ? undefined : timeOf(until),
    knownDifferences: Number(rows[0]?.known ?? 0n),
    differences: await readDifferences(pool, MAX_SHOWN),
  };
}

/** Oldest first. */
export async function readDifferences(
  client: ClientBase | Pool,
  limit = MAX_DIFFERENCES,
): Promise<readonly Difference[]> {
  const { rows } = await client.query<DifferenceRow>({
    name: 'usage.differences',
    text: DIFFERENCES,
    values: [limit],
  });
  return rows.map((row) => ({
    ...subjectOf(row),
    expected: {
      generations: row.expected_generations,
      costNanoUsd: nanoUsd(row.expected_cost_nano_usd),
      chargedNanoUsd: nanoUsd(row.expected_charged_nano_usd),
    },
    found: {
      generations: row.found_generations,
      costNanoUsd: nanoUsd(row.found_cost_nano_usd),
      chargedNanoUsd: nanoUsd(row.found_charged_nano_usd),
    },
    firstSeenAt: timeOf(row.first_seen_unix_ms),
  }));
}

function keyOfAnnounced({ organizationId, from, startsAt }: AnnouncedHour): string {
  return `${from} ${startsAt} ${organizationId}`;
}

function keysOf(subjects: readonly Subject[]): string[] {
  return [
    textArray(subjects, ({ organizationId }) => organizationId),
    textArray(subjects, ({ kind }) => kind),
    plainArray(subjects, ({ startsAt }) => startsAt),
    plainArray(subjects, ({ from }) => from),
  ];
}

function keysOfAnnounced(subjects: readonly Subject[]): string[] {
  const [organizations = '', , hours = '', windows = ''] = keysOf(subjects);
  return [organizations, windows, hours];
}

function subjectOf(row: SubjectRow): Subject {
  return {
    organizationId: row.organization_id,
    kind: row.kind,
    startsAt: timeOf(row.starts_unix_ms),
    from: timeOf(row.from_unix_ms),
  };
}

function timeOf(unixMs: bigint): UnixMs {
  return Number(unixMs) as UnixMs;
}
