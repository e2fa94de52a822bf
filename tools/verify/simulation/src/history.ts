import { DAY_MS, type Prices, type Usage } from '@gateway/base';
import type { IdempotentEnding } from '@gateway/billing-ledger/testing';

/**
 * A history of the money path as plain data: calls, their order, their ledger and
 * injected faults. No step depends on earlier ones, so shrinking can remove any of
 * them.
 */
export interface History {
  readonly seed: number;
  readonly startUnixMs: number;
  readonly generations: readonly Generation[];
  readonly steps: readonly Step[];
}

/** The fixed properties of a generation. */
export interface Generation {
  readonly id: string;
  readonly organization: string;
  readonly key: string;
  readonly amount: number;
  readonly organizationBudget: number | undefined;
  readonly keyBudget: number | undefined;
  /** The budgets of the month and of all time. */
  readonly longBudgets: {
    readonly organizationMonth: number | undefined;
    readonly organizationTotal: number | undefined;
    readonly keyMonth: number | undefined;
    readonly keyTotal: number | undefined;
  };
  readonly weekBudgets: {
    readonly organization: number | undefined;
    readonly key: number | undefined;
    readonly project: number | undefined;
  };
  /** The budget of a rolling window of one owner. */
  readonly window: WindowBudget | undefined;
  /** The budget of one owner for some models, or for one end user. */
  readonly counted: CountedBudget | undefined;
  readonly run: { readonly id: string; readonly budget: number | undefined } | undefined;
  readonly project: ProjectBudgets | undefined;
  /** Prices of the hold; the catalogue may change before the generation finishes. */
  readonly holdPrices: Prices;
  readonly eventPrices: Prices | undefined;
  readonly usage: Usage;
  /** The admission time in its event. */
  readonly createdUnixMs: number;
  readonly lifetimeMs: number;
  readonly scope: string | undefined;
  readonly body: number;
  /** The ending in its event; absent: none reported. */
  readonly ending: IdempotentEnding | undefined;
}

export interface WindowBudget {
  readonly owner: 'key' | 'project' | 'organization';
  readonly hours: number;
  readonly amount: number;
}

export interface CountedBudget {
  readonly owner: 'end_user' | 'key' | 'project' | 'organization';
  /** The end user, or the pattern of models. */
  readonly of: string;
  readonly period: 'day' | 'week' | 'month' | 'total';
  readonly amount: number;
}

export interface ProjectBudgets {
  readonly id: string;
  readonly day: number | undefined;
  readonly month: number | undefined;
  readonly total: number | undefined;
}

/** One call. Generations are given by their index. */
export type Operation =
  | { readonly kind: 'credit'; readonly id: string; readonly organization: string; readonly amount: number }
  | { readonly kind: 'hold'; readonly generations: readonly number[]; readonly otherOrganization?: boolean }
  /** To `by` more than the amount of each generation's hold. */
  | { readonly kind: 'extend'; readonly generations: readonly number[]; readonly by: number }
  | { readonly kind: 'void'; readonly generations: readonly number[] }
  | { readonly kind: 'settle'; readonly generations: readonly number[] }
  | { readonly kind: 'reap'; readonly limit: number }
  | { readonly kind: 'claim'; readonly generation: number }
  | { readonly kind: 'renew'; readonly generations: readonly number[] }
  | { readonly kind: 'release'; readonly generations: readonly number[] }
  | { readonly kind: 'delete_expired' };

export interface Call {
  readonly ledger: 1 | 2;
  readonly operation: Operation;
  readonly fault?: Fault;
}

export interface Fault {
  /**
   * - `lost_response`: the statement is executed, but its response is lost; the ledger retries.
   * - `cut`: the connection is lost while the statement is in flight; the ledger retries.
   * - `terminated_before`, `terminated_after`: the process terminates before it sends the statement, or before it
   *   receives the response.
   */
  readonly kind: 'lost_response' | 'cut' | 'terminated_before' | 'terminated_after';
  /** The number of the call's statement, from 1. */
  readonly statement: number;
}

export type Step =
  | { readonly kind: 'calls'; readonly calls: readonly Call[] }
  | { readonly kind: 'time'; readonly ms: number };

export const LEASE_MS = 5_000;
export const CLAIM_RETENTION_MS = DAY_MS;

/** The generations of an operation. */
export function generationsOf(operation: Operation): readonly number[] {
  if ('generations' in operation) return operation.generations;
  return 'generation' in operation ? [operation.generation] : [];
}
