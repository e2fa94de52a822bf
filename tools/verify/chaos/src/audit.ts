import { auditLedger } from '@gateway/billing-ledger';
import type { Attempt } from '@gateway/load';
import type { SeenRequest } from '@gateway/model-emulator';
import { Pool } from 'pg';

/** What a client, a provider and the books say of the same requests, and where they differ. */
export interface Audit {
  /** Empty when the promise was kept. */
  readonly faults: readonly string[];
  readonly figures: {
    readonly requests: number;
    readonly answered: number;
    /** Calls that reached the provider. */
    readonly provided: number;
    readonly settled: number;
    readonly chargedNanoUsd: bigint;
    /** Whole answers of the provider that came too late, or that a lost process took along: nobody got them, and nobody paid. */
    readonly absorbed: number;
  };
}

export interface AuditInput {
  readonly attempts: readonly Attempt[];
  readonly seen: readonly SeenRequest[];
  readonly credits: ReadonlyMap<string, { readonly creditNanoUsd: bigint; readonly usedNanoUsd: bigint }>;
  /** Of a role that may read everything. */
  readonly databaseUrl: (database: string) => string;
  /** Whether a process was lost that may have had a generation under way. */
  readonly lostGenerations: boolean;
}

/** The provider ended an answer that was given up before any of it was read: nobody pays for that. */
function cameTooLate({ outcome, code }: Attempt): boolean {
  return outcome === 'cancelled' || code === 'request_timeout';
}

interface Booked {
  readonly id: string;
  readonly organization: string;
  readonly marker: string | undefined;
  readonly status: string;
  readonly cost: bigint;
  readonly charged: bigint;
}

const MAX_FAULTS = 30;

/** Shares no code with what it audits: it reads the tables, the provider's list and the clients' own notes. */
export async function audit(input: AuditInput): Promise<Audit> {
  const faults: string[] = [];
  const ledger = await withPool(input.databaseUrl('billing_ledger'), async (pool) => {
    const { faults: found, openHolds } = await auditLedger(pool);
    faults.push(...found.map((fault) => `ledger: ${fault}`));
    if (openHolds > 0) faults.push(`ledger: ${openHolds} holds are open after their deadline`);
    return readSettled(pool);
  });
  const booked = await withPool(input.databaseUrl('usage'), readGenerations);

  compareBooks(ledger, booked, faults);
  const byId = new Map(booked.map((one) => [one.id, one]));
  const byMarker = groupBy(booked, ({ marker }) => marker ?? '');
  const provided = groupBy(input.seen, markerOf);

  for (const attempt of input.attempts) {
    const own = byMarker.get(attempt.marker) ?? [];
    faults.push(...faultsOfAttempt(attempt, own, byId, provided.get(attempt.marker) ?? []));
  }
  const known = new Set(input.attempts.map(({ marker }) => marker));
  for (const [marker, generations] of byMarker) {
    if (!known.has(marker)) faults.push(`${generations[0]?.id}: nobody asked for "${marker}"`);
  }
  for (const [organization, { creditNanoUsd, usedNanoUsd }] of input.credits) {
    const charged = sumOf(booked.filter((one) => one.organization === organization));
    if (charged !== usedNanoUsd) {
      faults.push(`${organization}: /v1/credits says ${usedNanoUsd} used, the generations ${charged}`);
    }
    if (charged > creditNanoUsd) faults.push(`${organization}: charged ${charged} of ${creditNanoUsd}`);
  }
  const absorbed = input.attempts.filter(
    ({ marker }) => provided.get(marker)?.some(isWholeAnswer) && !byMarker.has(marker),
  );
  const unexplained = absorbed.filter((attempt) => !input.lostGenerations && !cameTooLate(attempt));
  if (unexplained.length > 0) {
    const [{ marker, kind, outcome, code } = {}] = unexplained;
    faults.push(
      `${unexplained.length} answers of the provider were booked nowhere, such as ${marker} (${kind}, ${outcome} ${code ?? ''})`,
    );
  }
  return {
    faults:
      faults.length > MAX_FAULTS
        ? [...faults.slice(0, MAX_FAULTS), `and ${faults.length - MAX_FAULTS} more`]
        : faults,
    figures: {
      requests: input.attempts.length,
      answered: input.attempts.filter(({ outcome }) => outcome === 'answered').length,
      provided: input.seen.length,
      settled: booked.length,
      chargedNanoUsd: sumOf(booked),
      absorbed: absorbed.length,
    },
  };
}

/** What the ledger settled is what the usage domain shows, to the last nano-dollar. */
function compareBooks(
  ledger: ReadonlyMap<string, Omit<Booked, 'marker' | 'status'>>,
  booked: readonly Booked[],
  faults: string[],
): void {
  const shown = new Set<string>();
  for (const { id, cost, charged } of booked) {
    if (shown.has(id)) faults.push(`${id}: shown twice`);
    shown.add(id);
    const settled = ledger.get(id);
    if (settled === undefined) faults.push(`${id}: shown as a generation, but never settled`);
    else if (settled.cost !== cost || settled.charged !== charged) {
      faults.push(`${id}: settled ${settled.cost}/${settled.charged}, shown ${cost}/${charged}`);
    }
  }
  for (const id of ledger.keys()) if (!shown.has(id)) faults.push(`${id}: settled, but shown nowhere`);
}

function faultsOfAttempt(
  attempt: Attempt,
  own: readonly Booked[],
  byId: ReadonlyMap<string, Booked>,
  provided: readonly SeenRequest[],
): string[] {
  const { marker, kind, outcome, generationId, costNanoUsd, fault } = attempt;
  const faults = fault === undefined ? [] : [`${marker}: ${fault}`];
  if (outcome === 'answered') {
    const generation = generationId === undefined ? undefined : byId.get(generationId);
    if (generation === undefined)
      faults.push(`${marker}: answered as ${generationId}, which was never settled`);
    else if (costNanoUsd !== undefined && generation.cost !== costNanoUsd) {
      faults.push(`${marker}: told ${costNanoUsd}, settled ${generation.cost}`);
    }
  }
  // Who hung up meanwhile owes the prompt of a call that was begun, whether or not it arrived.
  const hungUp = outcome === 'lost' || outcome === 'late' || outcome === 'cancelled';
  if (provided.length === 0 && own.length > 0 && !hungUp) {
    faults.push(
      `${marker} (${kind}, ${outcome} ${attempt.code ?? ''}): charged without a call to the provider`,
    );
  }
  const most = kind === 'idempotent' ? own.filter(({ status }) => status === 'completed').length : own.length;
  if (most > 1) faults.push(`${marker}: ${most} generations for one request (${kind})`);
  return faults;
}

async function readSettled(pool: Pool): Promise<ReadonlyMap<string, Omit<Booked, 'marker' | 'status'>>> {
  const { rows } = await pool.query<{ id: string; organization: string; cost: string; charged: string }>(
    `select hold_id as id, organization_id as organization, cost_nano_usd::text as cost,
       charged_nano_usd::text as charged
     from billing_ledger.closed_holds where state = 'settled'`,
  );
  return new Map(
    rows.map(({ id, organization, cost, charged }) => [
      id,
      { id, organization, cost: BigInt(cost), charged: BigInt(charged) },
    ]),
  );
}

async function readGenerations(pool: Pool): Promise<Booked[]> {
  const { rows } = await pool.query<
    Record<'id' | 'organization' | 'marker' | 'status' | 'cost' | 'charged', string>
  >(
    `select id, organization_id as organization, external_user as marker, status,
       cost_nano_usd::text as cost, charged_nano_usd::text as charged
     from usage.generations`,
  );
  return rows.map((row) => ({ ...row, cost: BigInt(row.cost), charged: BigInt(row.charged) }));
}

async function withPool<Value>(
  connectionString: string,
  use: (pool: Pool) => Promise<Value>,
): Promise<Value> {
  const pool = new Pool({ connectionString, max: 2 });
  try {
    return await use(pool);
  } finally {
    await pool.end();
  }
}

/** Some faults of the provider come with a whole answer around them, which the router does not take for one. */
function isWholeAnswer({ outcome, status, faults }: SeenRequest): boolean {
  return outcome === 'completed' && status === 200 && faults.length === 0;
}

function markerOf({ body }: SeenRequest): string {
  return /"content":"(chaos-\d+) /.exec(body)?.[1] ?? '';
}

const sumOf = (booked: readonly Booked[]): bigint => booked.reduce((sum, { charged }) => sum + charged, 0n);

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
