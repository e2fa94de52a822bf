import { auditLedger } from '@gateway/ledger-audit';
import {
  BillingReader,
  chargedOf,
  differencesFromFrozenPrices,
  differencesOf,
  problemsOfAttempt as problemsOfSettlement,
  type Attempt,
  type BillingSnapshot,
  type RecordedGeneration,
} from '@gateway/load';
import type { SeenRequest } from '@gateway/model-emulator';

/** The comparison of the clients', the provider's and the ledger's records of the same requests. */
export interface Audit {
  /** Violated guarantees; empty if there are none. */
  readonly problems: readonly string[];
  readonly figures: {
    readonly requests: number;
    readonly completed: number;
    /** Calls that reached the provider. */
    readonly provided: number;
    readonly settled: number;
    readonly chargedNanoUsd: bigint;
    readonly priceChanges: number;
    /** Complete responses of the provider that no client received or paid for: too late, or lost in a killed process. */
    readonly uncharged: number;
  };
}

export interface AuditInput {
  readonly attempts: readonly Attempt[];
  readonly seen: readonly SeenRequest[];
  readonly credits: ReadonlyMap<string, { readonly creditNanoUsd: bigint; readonly usedNanoUsd: bigint }>;
  /** For a role that can read all tables. */
  readonly databaseUrl: (database: string) => string;
  /** The published versions with other prices. */
  readonly priceChanges: number;
  /** Whether a process with generations in flight may have been killed. */
  readonly lostGenerations: boolean;
}

/** The provider completed a response after the gateway had cancelled the call: it is not charged. */
function isAbandoned({ outcome, code }: Attempt): boolean {
  return outcome === 'cancelled' || code === 'request_timeout';
}

const MAX_PROBLEMS = 30;

/** Compares the tables, the provider's requests and the clients' attempts. */
export async function audit(input: AuditInput): Promise<Audit> {
  const snapshot = await readBilling(input.databaseUrl);
  const { recorded } = snapshot;
  const problems = snapshot.problems.map((problem) => `ledger: ${problem}`);
  if (snapshot.openHolds > 0)
    problems.push(`ledger: ${snapshot.openHolds} holds are open after their deadline`);
  problems.push(...differencesOf(snapshot), ...differencesFromFrozenPrices(snapshot));
  const prices = new Set([...snapshot.settled.values()].map((one) => one.prices));
  if (prices.size < 2)
    problems.push(`${input.priceChanges} price changes were published, and none took effect`);
  const byMarker = groupBy(recorded, ({ marker }) => marker ?? '');
  const provided = groupBy(input.seen, markerOf);

  for (const attempt of input.attempts) {
    const own = byMarker.get(attempt.marker) ?? [];
    problems.push(...problemsOfSettlement(attempt, snapshot.settled));
    problems.push(...problemsOfAttempt(attempt, own, provided.get(attempt.marker) ?? []));
  }
  const known = new Set(input.attempts.map(({ marker }) => marker));
  for (const [marker, generations] of byMarker) {
    if (!known.has(marker)) problems.push(`${generations[0]?.id}: no client sent "${marker}"`);
  }
  for (const [organization, { creditNanoUsd, usedNanoUsd }] of input.credits) {
    const charged = chargedOf(snapshot, organization);
    if (charged !== usedNanoUsd) {
      problems.push(
        `${organization}: /v1/credits shows ${usedNanoUsd} used, generations were charged ${charged}`,
      );
    }
    if (charged > creditNanoUsd)
      problems.push(`${organization}: charged ${charged}, more than its credit of ${creditNanoUsd}`);
  }
  const uncharged = input.attempts.filter(
    ({ marker }) => provided.get(marker)?.some(isCompleteResponse) && !byMarker.has(marker),
  );
  const unexplained = uncharged.filter((attempt) => !input.lostGenerations && !isAbandoned(attempt));
  if (unexplained.length > 0) {
    const [{ marker, kind, outcome, code } = {}] = unexplained;
    problems.push(
      `${unexplained.length} responses of the provider were not charged, such as ${marker} (${kind}, ${outcome} ${code ?? ''})`,
    );
  }
  return {
    problems:
      problems.length > MAX_PROBLEMS
        ? [...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more`]
        : problems,
    figures: {
      requests: input.attempts.length,
      completed: input.attempts.filter(({ outcome }) => outcome === 'completed').length,
      provided: input.seen.length,
      settled: recorded.length,
      chargedNanoUsd: sumOf(recorded),
      priceChanges: input.priceChanges,
      uncharged: uncharged.length,
    },
  };
}

function problemsOfAttempt(
  attempt: Attempt,
  own: readonly RecordedGeneration[],
  provided: readonly SeenRequest[],
): string[] {
  const { marker, kind, outcome, problem } = attempt;
  const problems = problem === undefined ? [] : [`${marker}: ${problem}`];
  // The prompt of a started call is charged where its client disconnects, or its edge loses the router (an
  // internal_error), even if the provider did not receive it.
  const isDisconnected = outcome === 'disconnected' || outcome === 'timed out' || outcome === 'cancelled';
  const mayHaveStarted = isDisconnected || attempt.code === 'internal_error';
  if (provided.length === 0 && own.length > 0 && !mayHaveStarted) {
    problems.push(
      `${marker} (${kind}, ${outcome} ${attempt.code ?? ''}): charged without a call to the provider`,
    );
  }
  const count =
    kind === 'idempotent' ? own.filter(({ status }) => status === 'completed').length : own.length;
  if (count > 1) problems.push(`${marker}: ${count} generations for one request (${kind})`);
  return problems;
}

async function readBilling(databaseUrl: AuditInput['databaseUrl']): Promise<BillingSnapshot> {
  const reader = new BillingReader(databaseUrl);
  try {
    return await reader.read(auditLedger);
  } finally {
    await reader.close();
  }
}

/** A response with an injected fault is not complete for the router. */
function isCompleteResponse({ outcome, status, faults }: SeenRequest): boolean {
  return outcome === 'completed' && status === 200 && faults.length === 0;
}

function markerOf({ body }: SeenRequest): string {
  return /"content":"(chaos-\d+) /.exec(body)?.[1] ?? '';
}

const sumOf = (recorded: readonly RecordedGeneration[]): bigint =>
  recorded.reduce((sum, { charged }) => sum + charged, 0n);

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
