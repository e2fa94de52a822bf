import type { NanoUsd } from './money';

/** The owner of a budget. */
export type BudgetScope = 'run' | 'key' | 'project' | 'organization';

/** What a budget limits: a UTC day, its week from Monday, its calendar month, or all time. */
export type BudgetPeriod = 'day' | 'week' | 'month' | 'total';

/** The most that an owner may spend in a period. */
export interface Budget {
  readonly scope: BudgetScope;
  /** A run, a key or a project; empty for the organization. */
  readonly ownerId: string;
  readonly period: BudgetPeriod;
  readonly amountNanoUsd: NanoUsd;
}
