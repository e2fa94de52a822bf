import { Pool } from 'pg';
import type { Attempt } from './attempts';

/** A generation as the ledger settled it. */
export interface SettledGeneration {
  readonly id: string;
  readonly organization: string;
  readonly cost: bigint;
  readonly charged: bigint;
}

/** The same as the usage domain shows it. */
export interface ShownGeneration extends SettledGeneration {
  /** Of the request: its `user`. */
  readonly marker: string | undefined;
  readonly status: string;
}

export interface Books {
  readonly settled: ReadonlyMap<string, SettledGeneration>;
  readonly shown: readonly ShownGeneration[];
  /** What the auditor of the ledger found. */
  readonly faults: readonly string[];
  readonly openHolds: number;
}

/** The auditor of the ledger domain, which tools do not depend on. */
export type AuditLedger = (ledger: Pool) => Promise<Pick<Books, 'faults' | 'openHolds'>>;

/** The tables of ledger and usage. Shares no code with the services that it audits. */
export class BookReader {
  private readonly ledger: Pool;
  private readonly usage: Pool;

  /** @param databaseUrl of a role that may read everything */
  constructor(databaseUrl: (database: string) => string) {
    this.ledger = new Pool({ connectionString: databaseUrl('billing_ledger'), max: 1 });
    this.usage = new Pool({ connectionString: databaseUrl('usage'), max: 1 });
  }

  /** @returns what still runs: open holds, settlements that usage does not show yet; empty when nothing does. */
  async unfinished(): Promise<string[]> {
    const holds = await countOf(this.ledger, 'select count(*) from billing_ledger.open_holds');
    const settled = await countOf(
      this.ledger,
      `select count(*) from billing_ledger.closed_holds where state = 'settled'`,
    );
    const shown = await countOf(this.usage, 'select count(*) from usage.generations');
    return [
      ...(holds > 0 ? [`${holds} holds are open`] : []),
      ...(settled === shown ? [] : [`${settled} generations are settled, ${shown} are shown`]),
    ];
  }

  async read(auditLedger: AuditLedger): Promise<Books> {
    const { faults, openHolds } = await auditLedger(this.ledger);
    const settled = await rowsOf<{ id: string; organization: string }>(
      this.ledger,
      `select hold_id as id, organization_id as organization, cost_nano_usd::text as cost,
         charged_nano_usd::text as charged
       from billing_ledger.closed_holds where state = 'settled'`,
    );
    const shown = await rowsOf<{ id: string; organization: string; marker: string; status: string }>(
      this.usage,
      `select id, organization_id as organization, external_user as marker, status,
         cost_nano_usd::text as cost, charged_nano_usd::text as charged
       from usage.generations`,
    );
    return { settled: new Map(settled.map((one) => [one.id, one])), shown, faults, openHolds };
  }

  async close(): Promise<void> {
    await Promise.all([this.ledger.end(), this.usage.end()]);
  }
}

/** Where the ledger and the usage domain differ, to the nano-dollar. */
export function differencesOf({ settled, shown }: Pick<Books, 'settled' | 'shown'>): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const { id, cost, charged } of shown) {
    if (seen.has(id)) faults.push(`${id}: shown twice`);
    seen.add(id);
    const other = settled.get(id);
    if (other === undefined) faults.push(`${id}: shown as a generation, but never settled`);
    else if (other.cost !== cost || other.charged !== charged)
      faults.push(`${id}: settled ${other.cost}/${other.charged}, shown ${cost}/${charged}`);
  }
  for (const id of settled.keys()) if (!seen.has(id)) faults.push(`${id}: settled, but shown nowhere`);
  return faults;
}

/** Where a client received a complete response that was never settled, or settled at another cost. */
export function faultsOfAttempt(
  { marker, outcome, generationId = '', costNanoUsd }: Attempt,
  settled: Books['settled'],
): string[] {
  if (outcome !== 'answered') return [];
  const generation = settled.get(generationId);
  if (generation === undefined) return [`${marker}: answered as ${generationId}, which was never settled`];
  if (costNanoUsd === undefined || generation.cost === costNanoUsd) return [];
  return [`${marker}: the response says ${costNanoUsd}, settled ${generation.cost}`];
}

/** @returns the sum of an organization's charges. */
export function chargedOf(books: Books, organizationId: string): bigint {
  return [...books.settled.values()]
    .filter(({ organization }) => organization === organizationId)
    .reduce((sum, { charged }) => sum + charged, 0n);
}

async function countOf(pool: Pool, sql: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(sql);
  return Number(rows[0]?.count);
}

async function rowsOf<Row extends object>(
  pool: Pool,
  sql: string,
): Promise<(Row & { cost: bigint; charged: bigint })[]> {
  const { rows } = await pool.query<Row & { cost: string; charged: string }>(sql);
  return rows.map((row) => ({ ...row, cost: BigInt(row.cost), charged: BigInt(row.charged) }));
}
