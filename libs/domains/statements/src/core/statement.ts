import type { NanoUsd, UnixMs } from '@gateway/base';

/** One posting. */
export interface Entry {
  /** A negative credit is a correction. */
  readonly kind: 'credit' | 'correction' | 'hold' | 'settlement' | 'void';
  readonly posted: UnixMs;
  readonly creditNanoUsd: NanoUsd;
  readonly heldNanoUsd: NanoUsd;
  readonly revenueNanoUsd: NanoUsd;
  /** Zero or negative. */
  readonly uncollectedNanoUsd: NanoUsd;
}

/** A posting that changed the balance, with the balance after it. Moves between available and held are excluded. */
export interface StatementLine {
  readonly kind: 'credit' | 'correction' | 'settlement';
  readonly reference: string;
  readonly posted: UnixMs;
  readonly amountNanoUsd: NanoUsd;
  readonly balanceNanoUsd: NanoUsd;
  readonly note: string | undefined;
}

/** The sums of a time span. */
export interface Movements {
  readonly addedNanoUsd: bigint;
  /** Zero or negative, like `usedNanoUsd`. */
  readonly correctedNanoUsd: bigint;
  readonly usedNanoUsd: bigint;
}

export interface StatementMonth extends Movements {
  /** YYYY-MM, UTC. */
  readonly month: string;
  readonly openingNanoUsd: bigint;
  /** The opening balance plus the movements, to the nano-dollar. */
  readonly closingNanoUsd: bigint;
}

/** The last line of a page, and the balance from which the next page continues. */
export interface StatementCursor {
  readonly posted: UnixMs;
  readonly reference: string;
  readonly kind: string;
  readonly balanceNanoUsd: bigint;
}

export interface StatementQuery {
  readonly organizationId: string;
  readonly month: string;
  readonly oldestFirst: boolean;
  readonly after: StatementCursor | undefined;
  readonly limit: number;
}

export interface StatementPage {
  readonly sums: StatementMonth;
  readonly lines: readonly StatementLine[];
}

const NO_MOVEMENTS: Movements = { addedNanoUsd: 0n, correctedNanoUsd: 0n, usedNanoUsd: 0n };

function netOf({ addedNanoUsd, correctedNanoUsd, usedNanoUsd }: Movements): bigint {
  return addedNanoUsd + correctedNanoUsd + usedNanoUsd;
}

/** The month of a time, as YYYY-MM. */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}

/** The start of a month and the start of the next. */
export function rangeOf(month: string): { readonly start: UnixMs; readonly end: UnixMs } {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return { start: Date.UTC(year, number - 1, 1) as UnixMs, end: Date.UTC(year, number, 1) as UnixMs };
}

/** The months from the first to the last, each with its opening and closing balance. */
export function chainMonths(
  first: string,
  last: string,
  movements: ReadonlyMap<string, Movements>,
): readonly StatementMonth[] {
  const months: StatementMonth[] = [];
  let openingNanoUsd = 0n;
  for (let month = first; month <= last; month = monthOf(rangeOf(month).end)) {
    const moved = movements.get(month) ?? NO_MOVEMENTS;
    const closingNanoUsd = openingNanoUsd + netOf(moved);
    months.push({ month, openingNanoUsd, ...moved, closingNanoUsd });
    openingNanoUsd = closingNanoUsd;
  }
  return months;
}
