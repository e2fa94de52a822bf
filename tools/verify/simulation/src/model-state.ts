import type { Prices } from '@gateway/base';
import type { Claim } from './model-claims';

/**
 * A simple reference model of the ledger: sequential calls on in-memory maps. The
 * SQL and the core must behave like it. It shares no code with them, so that one
 * mistake cannot be in both.
 */
export interface ModelState {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly credits: ReadonlyMap<string, { readonly organization: string; readonly amount: bigint }>;
  readonly holds: ReadonlyMap<string, Hold>;
  /** Spent and held amounts by organization and day, week, month or all time, each alone, with the key and with the project, and by run. */
  readonly used: ReadonlyMap<string, bigint>;
  /** The fixed budgets, by organization and run. */
  readonly runs: ReadonlyMap<string, bigint>;
  readonly claims: ReadonlyMap<string, Claim>;
  readonly announced: ReadonlyMap<string, { readonly cost: bigint; readonly charged: bigint }>;
}

export interface Account {
  readonly credited: bigint;
  readonly available: bigint;
  readonly held: bigint;
  readonly charged: bigint;
}

export interface Hold {
  readonly organization: string;
  readonly key: string;
  readonly project: string | undefined;
  readonly state: 'held' | 'voided' | 'settled' | 'abandoned';
  readonly amount: bigint;
  readonly prices: Prices;
  readonly day: string;
  readonly deadline: number;
  readonly scope: string | undefined;
  readonly run: string | undefined;
  /** Since 1970. */
  readonly hour: number;
  /** Where it counts by its hour. */
  readonly counters: readonly string[];
}

export const EMPTY_MODEL: ModelState = {
  accounts: new Map(),
  credits: new Map(),
  holds: new Map(),
  used: new Map(),
  runs: new Map(),
  claims: new Map(),
  announced: new Map(),
};

export const NO_ACCOUNT: Account = { credited: 0n, available: 0n, held: 0n, charged: 0n };

export type Draft = {
  [Part in keyof ModelState]: ModelState[Part] extends ReadonlyMap<string, infer Value>
    ? Map<string, Value>
    : never;
};
