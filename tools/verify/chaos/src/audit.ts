import { auditLedger } from '@gateway/ledger-audit';
import {
  BookReader,
  chargedOf,
  differencesOf,
  faultsOfAttempt as faultsOfSettlement,
  type Attempt,
  type Books,
  type ShownGeneration,
} from '@gateway/load';
import type { SeenRequest } from '@gateway/model-emulator';

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

const MAX_FAULTS = 30;

/** Compares the tables, the provider's list and the clients' own notes. */
export async function audit(input: AuditInput): Promise<Audit> {
  const books = await readBooks(input.databaseUrl);
  const { shown: booked } = books;
  const faults = books.faults.map((fault) => `ledger: ${fault}`);
  if (books.openHolds > 0) faults.push(`ledger: ${books.openHolds} holds are open after their deadline`);
  faults.push(...differencesOf(books));
  const byMarker = groupBy(booked, ({ marker }) => marker ?? '');
  const provided = groupBy(input.seen, markerOf);

  for (const attempt of input.attempts) {
    const own = byMarker.get(attempt.marker) ?? [];
    faults.push(...faultsOfSettlement(attempt, books.settled));
    faults.push(...faultsOfAttempt(attempt, own, provided.get(attempt.marker) ?? []));
  }
  const known = new Set(input.attempts.map(({ marker }) => marker));
  for (const [marker, generations] of byMarker) {
    if (!known.has(marker)) faults.push(`${generations[0]?.id}: nobody asked for "${marker}"`);
  }
  for (const [organization, { creditNanoUsd, usedNanoUsd }] of input.credits) {
    const charged = chargedOf(books, organization);
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

function faultsOfAttempt(
  attempt: Attempt,
  own: readonly ShownGeneration[],
  provided: readonly SeenRequest[],
): string[] {
  const { marker, kind, outcome, fault } = attempt;
  const faults = fault === undefined ? [] : [`${marker}: ${fault}`];
  // A client that disconnected owes the prompt of a call that was started, whether or not it arrived.
  const isDisconnected = outcome === 'lost' || outcome === 'late' || outcome === 'cancelled';
  if (provided.length === 0 && own.length > 0 && !isDisconnected) {
    faults.push(
      `${marker} (${kind}, ${outcome} ${attempt.code ?? ''}): charged without a call to the provider`,
    );
  }
  const most = kind === 'idempotent' ? own.filter(({ status }) => status === 'completed').length : own.length;
  if (most > 1) faults.push(`${marker}: ${most} generations for one request (${kind})`);
  return faults;
}

async function readBooks(databaseUrl: AuditInput['databaseUrl']): Promise<Books> {
  const reader = new BookReader(databaseUrl);
  try {
    return await reader.read(auditLedger);
  } finally {
    await reader.close();
  }
}

/** Some faults of the provider come with a whole answer around them, which the router does not take for one. */
function isWholeAnswer({ outcome, status, faults }: SeenRequest): boolean {
  return outcome === 'completed' && status === 200 && faults.length === 0;
}

function markerOf({ body }: SeenRequest): string {
  return /"content":"(chaos-\d+) /.exec(body)?.[1] ?? '';
}

const sumOf = (booked: readonly ShownGeneration[]): bigint =>
  booked.reduce((sum, { charged }) => sum + charged, 0n);

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
