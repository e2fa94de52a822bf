import { DAY_MS, type Prices, type Usage } from '@gateway/base';
import type { IdempotentEnding } from '@gateway/billing-ledger/testing';

/**
 * A history of the money path as plain data: what happens, in which order, at
 * which ledger, and what breaks. Nothing in it depends on what came before, so
 * any part can be left out and the rest still happens: that is what shrinking
 * does.
 */
export interface History {
  readonly seed: number;
  readonly startUnixMs: number;
  readonly generations: readonly Generation[];
  readonly steps: readonly Step[];
}

/** What is fixed about a generation, whatever happens to it. */
export interface Generation {
  readonly id: string;
  readonly organization: string;
  readonly key: string;
  readonly amount: number;
  readonly organizationBudget: number | undefined;
  readonly keyBudget: number | undefined;
  /** Of the hold; the catalogue may have changed by the time it ends. */
  readonly holdPrices: Prices;
  readonly eventPrices: Prices | undefined;
  readonly usage: Usage;
  /** When its event says that it was admitted. */
  readonly createdUnixMs: number;
  readonly lifetimeMs: number;
  readonly scope: string | undefined;
  readonly body: number;
  /** What its event says of its Idempotency-Key; absent: nothing. */
  readonly ending: IdempotentEnding | undefined;
}

/** One call at one of the two ledgers. Numbers are those of generations. */
export type Operation =
  | { readonly kind: 'credit'; readonly id: string; readonly organization: string; readonly amount: number }
  | { readonly kind: 'hold'; readonly generations: readonly number[]; readonly thief?: boolean }
  | { readonly kind: 'void'; readonly generations: readonly number[] }
  | { readonly kind: 'settle'; readonly generations: readonly number[] }
  | { readonly kind: 'reap'; readonly limit: number }
  | { readonly kind: 'claim'; readonly generation: number }
  | { readonly kind: 'renew'; readonly generations: readonly number[] }
  | { readonly kind: 'release'; readonly generations: readonly number[] }
  | { readonly kind: 'trim' };

export interface Call {
  readonly ledger: 1 | 2;
  readonly operation: Operation;
  readonly fault?: Fault;
}

export interface Fault {
  /**
   * - `lost_answer`: the statement is done, its answer lost; the ledger repeats the call.
   * - `cut`: the connection ends while the statement is on its way; the ledger repeats the call.
   * - `dies_before`, `dies_after`: the process ends before it sends the statement, or before it hears the answer.
   */
  readonly kind: 'lost_answer' | 'cut' | 'dies_before' | 'dies_after';
  /** Which of the call's statements, from 1. */
  readonly statement: number;
}

export type Step =
  | { readonly kind: 'calls'; readonly calls: readonly Call[] }
  | { readonly kind: 'time'; readonly ms: number };

export const LEASE_MS = 5_000;
export const CLAIM_RETENTION_MS = DAY_MS;

/** Every operation but time, with the generations that it names. */
export function generationsOf(operation: Operation): readonly number[] {
  if ('generations' in operation) return operation.generations;
  return 'generation' in operation ? [operation.generation] : [];
}
