import { Pool } from 'pg';
import type { Attempt } from './attempts';

/** A generation in the ledger. */
export interface SettledGeneration {
  readonly id: string;
  readonly organization: string;
  readonly cost: bigint;
  readonly charged: bigint;
  /** The prices of its hold, as the ledger writes them; in usage, those that its cost was computed with. */
  readonly prices: string | undefined;
}

/** Tokens of a generation, by kind. */
interface RecordedTokens {
  readonly prompt: bigint;
  readonly cached: bigint;
  readonly cacheWrite: bigint;
  readonly cacheWrite1h: bigint;
  readonly image: bigint;
  readonly completion: bigint;
  readonly reasoning: bigint;
}

/** A generation in the usage records. */
export interface RecordedGeneration extends SettledGeneration {
  readonly tokens: RecordedTokens;
  /** The request's `user`. */
  readonly marker: string | undefined;
  readonly status: string;
}

export interface BillingSnapshot {
  readonly settled: ReadonlyMap<string, SettledGeneration>;
  readonly recorded: readonly RecordedGeneration[];
  /** Problems that the ledger audit found. */
  readonly problems: readonly string[];
  readonly openHolds: number;
}

/** The ledger audit, injected because tools do not depend on domains. */
export type AuditLedger = (
  ledger: Pool,
) => Promise<{ readonly faults: readonly string[]; readonly openHolds: number }>;

/** Reads the tables of ledger and usage. Shares no code with the audited services. */
export class BillingReader {
  private readonly ledger: Pool;
  private readonly usage: Pool;

  /** @param databaseUrl URL for a role that can read all tables */
  constructor(databaseUrl: (database: string) => string) {
    this.ledger = new Pool({ connectionString: databaseUrl('billing_ledger'), max: 1 });
    this.usage = new Pool({ connectionString: databaseUrl('usage'), max: 1 });
  }

  /** @returns pending work: open holds and settlements that usage has not recorded; empty if there is none */
  async unfinished(): Promise<string[]> {
    const holds = await countOf(this.ledger, 'select count(*) from billing_ledger.open_holds');
    const settled = await countOf(
      this.ledger,
      `select count(*) from billing_ledger.closed_holds where state = 'settled'`,
    );
    const recorded = await countOf(this.usage, 'select count(*) from usage.generations');
    return [
      ...(holds > 0 ? [`${holds} holds are open`] : []),
      ...(settled === recorded ? [] : [`${settled} generations are settled, ${recorded} are in usage`]),
    ];
  }

  /** @returns the next offset of each partition of a topic, as stored with the effects of its events */
  async handledOffsets(database: 'ledger' | 'usage', topic: string): Promise<ReadonlyMap<number, bigint>> {
    const { rows } = await this[database].query<{ partition: number; next: string }>(
      `select partition, next_offset::text as next from event_log.consumer_offsets where topic = $1`,
      [topic],
    );
    return new Map(rows.map(({ partition, next }) => [partition, BigInt(next)]));
  }

  async read(auditLedger: AuditLedger): Promise<BillingSnapshot> {
    const { faults: problems, openHolds } = await auditLedger(this.ledger);
    const settled = await rowsOf<{ id: string; organization: string }>(
      this.ledger,
      `select hold_id as id, organization_id as organization, cost_nano_usd::text as cost,
         charged_nano_usd::text as charged, prices
       from billing_ledger.closed_holds where state = 'settled'`,
    );
    const recorded = await rowsOf<RecordedRow>(
      this.usage,
      `select id, organization_id as organization, external_user as marker, status,
         cost_nano_usd::text as cost, charged_nano_usd::text as charged, prices,
         array[
           prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens, image_tokens, completion_tokens,
           reasoning_tokens
         ]::text[] as counts
       from usage.generations`,
    );
    return {
      settled: new Map(settled.map((one) => [one.id, one])),
      recorded: recorded.map(({ counts, ...one }) => ({ ...one, tokens: tokensOf(counts) })),
      problems,
      openHolds,
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.ledger.end(), this.usage.end()]);
  }
}

/** Differences between the ledger and usage, to the nano-dollar. */
export function differencesOf({
  settled,
  recorded,
}: Pick<BillingSnapshot, 'settled' | 'recorded'>): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { id, cost, charged } of recorded) {
    if (seen.has(id)) problems.push(`${id}: twice in usage`);
    seen.add(id);
    const other = settled.get(id);
    if (other === undefined) problems.push(`${id}: in usage, but never settled`);
    else if (other.cost !== cost || other.charged !== charged)
      problems.push(`${id}: settled ${other.cost}/${other.charged}, usage has ${cost}/${charged}`);
  }
  for (const id of settled.keys()) if (!seen.has(id)) problems.push(`${id}: settled, but missing in usage`);
  return problems;
}

/** Reports a complete response that was never settled, or settled at another cost. */
export function problemsOfAttempt(
  { marker, outcome, generationId = '', costNanoUsd }: Attempt,
  settled: BillingSnapshot['settled'],
): string[] {
  if (outcome !== 'completed') return [];
  const generation = settled.get(generationId);
  if (generation === undefined) return [`${marker}: completed as ${generationId}, which was never settled`];
  if (costNanoUsd === undefined || generation.cost === costNanoUsd) return [];
  return [`${marker}: the response states a cost of ${costNanoUsd}, settled at ${generation.cost}`];
}

/** @returns the sum of an organization's charges. */
export function chargedOf(snapshot: BillingSnapshot, organizationId: string): bigint {
  return [...snapshot.settled.values()]
    .filter(({ organization }) => organization === organizationId)
    .reduce((sum, { charged }) => sum + charged, 0n);
}

interface RecordedRow {
  readonly id: string;
  readonly organization: string;
  readonly marker: string;
  readonly status: string;
  readonly counts: readonly string[];
}

function tokensOf(counts: readonly string[]): RecordedTokens {
  const [
    prompt = 0n,
    cached = 0n,
    cacheWrite = 0n,
    cacheWrite1h = 0n,
    image = 0n,
    completion = 0n,
    reasoning = 0n,
  ] = counts.map(BigInt);
  return { prompt, cached, cacheWrite, cacheWrite1h, image, completion, reasoning };
}

async function countOf(pool: Pool, sql: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(sql);
  return Number(rows[0]?.count);
}

async function rowsOf<Row extends object>(
  pool: Pool,
  sql: string,
): Promise<(Row & { cost: bigint; charged: bigint; prices: string | undefined })[]> {
  const { rows } = await pool.query<Row & { cost: string; charged: string; prices: string | null }>(sql);
  return rows.map(({ prices, ...row }) => ({
    ...(row as unknown as Row),
    cost: BigInt(row.cost),
    charged: BigInt(row.charged),
    prices: prices ?? undefined,
  }));
}
