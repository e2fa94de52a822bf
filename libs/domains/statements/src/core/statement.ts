import { DAY_MS, type NanoUsd, type UnixMs } from '@gateway/base';

/** One posting. */
export interface Entry {
  /** A negative credit is a correction. */
  readonly kind: 'credit' | 'correction' | 'hold' | 'extension' | 'settlement' | 'void';
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

export interface StatementDay extends Movements {
  /** YYYY-MM-DD, UTC. */
  readonly day: string;
  readonly openingNanoUsd: bigint;
  readonly closingNanoUsd: bigint;
}

/** Credit that was added, or removed by a correction. */
export interface Credit {
  readonly creditId: string;
  readonly posted: UnixMs;
  /** Negative for a correction. */
  readonly amountNanoUsd: NanoUsd;
  readonly note: string;
}

/** The last credit of a page. */
export interface CreditCursor {
  readonly posted: UnixMs;
  readonly creditId: string;
}

export interface CreditQuery {
  readonly organizationId: string;
  readonly month: string;
  readonly after: CreditCursor | undefined;
  readonly limit: number;
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
  /** A day of the month; undefined for the whole month. */
  readonly day: string | undefined;
  readonly oldestFirst: boolean;
  readonly after: StatementCursor | undefined;
  readonly limit: number;
}

export interface StatementPage {
  readonly sums: StatementMonth;
  readonly lines: readonly StatementLine[];
}

export interface StatementDays {
  readonly sums: StatementMonth;
  /** Newest first; without days on which nothing changed the balance. */
  readonly days: readonly StatementDay[];
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

/** The start of a day and the start of the next. */
export function rangeOfDay(day: string): { readonly start: UnixMs; readonly end: UnixMs } {
  const start = Date.parse(day);
  return { start: start as UnixMs, end: (start + DAY_MS) as UnixMs };
}

/** The days of a month, each with its opening and closing balance, newest first. */
export function chainDays(
  openingNanoUsd: bigint,
  movements: ReadonlyMap<string, Movements>,
): readonly StatementDay[] {
  let balance = openingNanoUsd;
  return [...movements]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([day, moved]) => {
      const opening = balance;
      balance += netOf(moved);
      return { day, ...moved, openingNanoUsd: opening, closingNanoUsd: balance };
    })
    .reverse();
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
