import type { NanoUsd, UnixMs } from '@gateway/base';

/** One movement of money, as it was posted. */
export interface Entry {
  /** A credit below zero is a correction. */
  readonly kind: 'credit' | 'correction' | 'hold' | 'settlement' | 'void';
  readonly posted: UnixMs;
  readonly creditNanoUsd: NanoUsd;
  readonly heldNanoUsd: NanoUsd;
  readonly revenueNanoUsd: NanoUsd;
  /** Zero or negative. */
  readonly uncollectedNanoUsd: NanoUsd;
}

/** What moved the balance, with the balance after it. What only moved between available and held did not. */
export interface StatementLine {
  readonly kind: 'credit' | 'correction' | 'settlement';
  readonly reference: string;
  readonly posted: UnixMs;
  readonly amountNanoUsd: NanoUsd;
  readonly balanceNanoUsd: NanoUsd;
  readonly note: string | undefined;
}

/** What moved the balance within some time. */
export interface Movements {
  readonly addedNanoUsd: bigint;
  /** Zero or negative, as is what was used. */
  readonly correctedNanoUsd: bigint;
  readonly usedNanoUsd: bigint;
}

export interface StatementMonth extends Movements {
  /** YYYY-MM, UTC. */
  readonly month: string;
  readonly openingNanoUsd: bigint;
  /** Opening and movements, to the nano-dollar. */
  readonly closingNanoUsd: bigint;
}

/** Where a page ended: the last line that was shown, and the balance on its far side. */
export interface StatementPlace {
  readonly posted: UnixMs;
  readonly reference: string;
  readonly kind: string;
  readonly balanceNanoUsd: bigint;
}

export interface StatementQuery {
  readonly organizationId: string;
  readonly month: string;
  readonly oldestFirst: boolean;
  readonly after: StatementPlace | undefined;
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

/** When a month begins, and when the next one does. */
export function rangeOf(month: string): { readonly start: UnixMs; readonly end: UnixMs } {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return { start: Date.UTC(year, number - 1, 1) as UnixMs, end: Date.UTC(year, number, 1) as UnixMs };
}

/** The months from the first to the last, each with what it opened and closed with. */
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
