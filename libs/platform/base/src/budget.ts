import type { NanoUsd } from './money';

/** The owner of a budget. */
export type BudgetScope = 'run' | 'key' | 'project' | 'organization';

/** What a budget limits: a UTC day, its week from Monday, its calendar month, a rolling window of hours, or all time. */
export type BudgetPeriod = 'day' | 'week' | 'month' | 'window' | 'total';

/** As many hours as the longest month has. */
export const MAX_WINDOW_HOURS = 744;

export const isWindowHours = (hours: number): boolean =>
  Number.isInteger(hours) && hours >= 1 && hours <= MAX_WINDOW_HOURS;

/** The most that an owner may spend in a period. */
export interface Budget {
  readonly scope: BudgetScope;
  /** A run, a key or a project; empty for the organization. */
  readonly ownerId: string;
  readonly period: BudgetPeriod;
  readonly amountNanoUsd: NanoUsd;
  /** The length of a window: the current UTC hour and those before it. */
  readonly hours?: number;
}
