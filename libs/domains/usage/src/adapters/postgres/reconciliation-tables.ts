import { nanoUsd, type UnixMs } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { ClientBase, Pool } from 'pg';
import { differs, type Comparison, type Difference, type Subject } from '../../core/reconciliation/compare';
import type { UsageReconciliation } from '../../core/ports';
import type { ToldHour } from '../../core/reconciliation/settled-window';

/** Differences that are read: broken sums break everywhere. */
const MAX_DIFFERENCES = 1_000;

/** What the ledger says again replaces what it said, and is compared again. */
const KEEP = `
  insert into reconciliation_told as known
    (organization_id, from_unix_ms, until_unix_ms, hour_unix_ms, generations, cost_nano_usd, charged_nano_usd)
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
  on conflict (organization_id, from_unix_ms, hour_unix_ms) do update set
    until_unix_ms = excluded.until_unix_ms, generations = excluded.generations,
    cost_nano_usd = excluded.cost_nano_usd, charged_nano_usd = excluded.charged_nano_usd, compared_unix_ms = 0`;

const TOLD = `
  select organization_id, from_unix_ms, until_unix_ms, hour_unix_ms, generations, cost_nano_usd, charged_nano_usd
  from reconciliation_told order by compared_unix_ms, from_unix_ms limit $1`;

const KNOWN_SUMS = `
  select organization_id, kind, starts_unix_ms, from_unix_ms from reconciliation_differences
  where kind <> 'settlements' order by last_seen_unix_ms limit ${MAX_DIFFERENCES}`;

/** $1 to $3 organizations, windows and hours that agree. */
const FORGET_TOLD = `
  delete from reconciliation_told told
  using unnest($1::text[], $2::bigint[], $3::bigint[]) as agreed (organization_id, from_unix_ms, hour_unix_ms)
  where told.organization_id = agreed.organization_id and told.from_unix_ms = agreed.from_unix_ms
    and told.hour_unix_ms = agreed.hour_unix_ms`;

/** $1 to $3 as above, of those that do not; $4 now. */
const NOTE_TOLD = `
  update reconciliation_told told set compared_unix_ms = $4
  from unnest($1::text[], $2::bigint[], $3::bigint[]) as differing (organization_id, from_unix_ms, hour_unix_ms)
  where told.organization_id = differing.organization_id and told.from_unix_ms = differing.from_unix_ms
    and told.hour_unix_ms = differing.hour_unix_ms`;

/** $1 to $4 what agrees; so does what nobody says any more. */
const FORGET_DIFFERENCES = `
  delete from reconciliation_differences known
  where (organization_id, kind, starts_unix_ms, from_unix_ms)
      in (select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]))
    or kind = 'settlements' and not exists (
      select from reconciliation_told told
      where told.organization_id = known.organization_id and told.from_unix_ms = known.from_unix_ms
        and told.hour_unix_ms = known.starts_unix_ms)`;

/** $1 to $4 what differs, $5 to $7 what is expected, $8 to $10 what is found, $11 now. */
const NOTE_DIFFERENCES = `
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

/** Differences that a person is shown. */
const MAX_SHOWN = 50;

const PROGRESS = `
  select
    (select compared_until_unix_ms from reconciliation_progress where compared_until_unix_ms > 0) as compared_until,
    (select count(*) from (select from reconciliation_differences limit ${MAX_DIFFERENCES}) known) as known`;

interface ToldRow {
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

export async function keepTold(pool: Pool, told: readonly ToldHour[]): Promise<void> {
  if (told.length === 0) return;
  await pool.query({
    name: 'usage.keep_told',
    text: KEEP,
    values: [
      textArray(told, ({ organizationId }) => organizationId),
      plainArray(told, ({ fromUnixMs }) => fromUnixMs),
      plainArray(told, ({ untilUnixMs }) => untilUnixMs),
      plainArray(told, ({ hourUnixMs }) => hourUnixMs),
      plainArray(told, ({ generations }) => generations),
      plainArray(told, ({ costNanoUsd }) => costNanoUsd),
      plainArray(told, ({ chargedNanoUsd }) => chargedNanoUsd),
    ],
  });
}

/** What was not compared yet comes first, then what was compared longest ago. */
export async function readTold(client: ClientBase, limit: number): Promise<readonly ToldHour[]> {
  const { rows } = await client.query<ToldRow>({ name: 'usage.told', text: TOLD, values: [limit] });
  return rows.map((row) => ({
    organizationId: row.organization_id,
    fromUnixMs: timeOf(row.from_unix_ms),
    untilUnixMs: timeOf(row.until_unix_ms),
    hourUnixMs: timeOf(row.hour_unix_ms),
    generations: row.generations,
    costNanoUsd: nanoUsd(row.cost_nano_usd),
    chargedNanoUsd: nanoUsd(row.charged_nano_usd),
  }));
}

/** Sums that are known to differ. */
export async function readKnownSums(client: ClientBase): Promise<readonly Subject[]> {
  const { rows } = await client.query<SubjectRow>({ name: 'usage.known_sums', text: KNOWN_SUMS });
  return rows.map(subjectOf);
}

export interface Compared {
  readonly compared: readonly Comparison[];
  /** That the comparisons of settlements are of. */
  readonly told: readonly ToldHour[];
  readonly now: UnixMs;
}

/** Forgets what agrees and writes down what does not; answers until when all was ever compared. */
export async function noteCompared(client: ClientBase, { compared, told, now }: Compared): Promise<UnixMs> {
  const differing = compared.filter(differs);
  const agreeing = compared.filter((one) => !differs(one));
  const isOfLedger = ({ kind }: Subject) => kind === 'settlements';
  await client.query(FORGET_TOLD, keysOfTold(agreeing.filter(isOfLedger)));
  await client.query(NOTE_TOLD, [...keysOfTold(differing.filter(isOfLedger)), now]);
  await client.query(FORGET_DIFFERENCES, keysOf(agreeing));
  await client.query(NOTE_DIFFERENCES, [
    ...keysOf(differing),
    ...[(one: Comparison) => one.expected, (one: Comparison) => one.found].flatMap((sums) => [
      plainArray(differing, (one) => sums(one).generations),
      plainArray(differing, (one) => sums(one).costNanoUsd),
      plainArray(differing, (one) => sums(one).chargedNanoUsd),
    ]),
    now,
  ]);
  const until = told.reduce((latest, { untilUnixMs }) => Math.max(latest, untilUnixMs), 0);
  const { rows } = await client.query<{ compared_until_unix_ms: bigint }>(ADVANCE, [until]);
  return timeOf(rows[0]?.compared_until_unix_ms ?? 0n);
}

/** What the runs of all processes have found. */
export async function readReconciliation(pool: Pool): Promise<UsageReconciliation> {
  const { rows } = await pool.query<{ compared_until: bigint | null; known: bigint }>(PROGRESS);
  const until = rows[0]?.compared_until ?? null;
  return {
    comparedUntil: until === null ? undefined : timeOf(until),
    knownDifferences: Number(rows[0]?.known ?? 0n),
    differences: await readDifferences(pool, MAX_SHOWN),
  };
}

/** The oldest first. */
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
    firstSeenUnixMs: timeOf(row.first_seen_unix_ms),
  }));
}

function keysOf(subjects: readonly Subject[]): string[] {
  return [
    textArray(subjects, ({ organizationId }) => organizationId),
    textArray(subjects, ({ kind }) => kind),
    plainArray(subjects, ({ startsUnixMs }) => startsUnixMs),
    plainArray(subjects, ({ fromUnixMs }) => fromUnixMs),
  ];
}

function keysOfTold(subjects: readonly Subject[]): string[] {
  const [organizations = '', , hours = '', windows = ''] = keysOf(subjects);
  return [organizations, windows, hours];
}

function subjectOf(row: SubjectRow): Subject {
  return {
    organizationId: row.organization_id,
    kind: row.kind,
    startsUnixMs: timeOf(row.starts_unix_ms),
    fromUnixMs: timeOf(row.from_unix_ms),
  };
}

function timeOf(unixMs: bigint): UnixMs {
  return Number(unixMs) as UnixMs;
}
