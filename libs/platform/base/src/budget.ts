import type { NanoUsd } from './money';

/** The owner of a budget. */
export type BudgetScope = 'run' | 'end_user' | 'key' | 'project' | 'organization';

/** What a budget limits: a UTC day, its week from Monday, its calendar month, a rolling window of hours, or all time. */
export type BudgetPeriod = 'day' | 'week' | 'month' | 'window' | 'total';

/** As many hours as the longest month has. */
export const MAX_WINDOW_HOURS = 744;

export const isWindowHours = (hours: number): boolean =>
  Number.isInteger(hours) && hours >= 1 && hours <= MAX_WINDOW_HOURS;

/** The most that an owner may spend in a period. */
export interface Budget {
  readonly scope: BudgetScope;
  /** A run, a key or a project; empty for the organization. The key of an end user. */
  readonly ownerId: string;
  readonly period: BudgetPeriod;
  readonly amountNanoUsd: NanoUsd;
  /** The length of a window: the current UTC hour and those before it. */
  readonly hours?: number;
  /** The id of a model, or a pattern of ids. Without, all models count. */
  readonly model?: string;
  /** The end user whose requests count. Without, each end user has the budget. */
  readonly endUser?: string;
}

/** @param pattern the id of a model, or the start of ids and an asterisk. */
export function matchesModel(modelId: string, pattern: string): boolean {
  return pattern.endsWith('*') ? modelId.startsWith(pattern.slice(0, -1)) : modelId === pattern;
}
