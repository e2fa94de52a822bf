import type { BudgetPeriod, NanoUsd, UnixMs } from '@gateway/base';

/** A budget of an organization, a project or a key, or of each end user of a key. */
export interface Budget {
  /** A key or a project; empty for the organization. */
  readonly ownerId: string;
  readonly ownerName: string;
  readonly period: BudgetPeriod;
  /** The length of a rolling window. */
  readonly hours: number | undefined;
  /** The models that count: an id, or a pattern of ids. */
  readonly model: string | undefined;
  readonly amountNanoUsd: NanoUsd;
  /** Whether each end user of the key has it. */
  readonly perEndUser?: boolean;
}

export interface BudgetsOfOrganization {
  readonly budgets: readonly Budget[];
  /** Who gets the alerts by email. */
  readonly emails: readonly string[];
}

/** Spending has reached a share of a budget. */
export interface BudgetAlert {
  /** The same for every recipient and attempt. */
  readonly alertId: string;
  readonly organizationId: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly period: BudgetPeriod;
  readonly hours: number | undefined;
  readonly model: string | undefined;
  /** The UTC day, the Monday of the week, the month, or the hour from which a window is not reported again; empty for the total. */
  readonly periodStart: string;
  readonly sharePercent: number;
  readonly budgetNanoUsd: NanoUsd;
  /** Charged when the share was found to be reached. */
  readonly spentNanoUsd: NanoUsd;
  readonly reachedAt: UnixMs;
  /** How many end users have reached the share; undefined for a budget of the owner itself. */
  readonly endUserCount: number | undefined;
}

/** An alert of the past. */
export interface SentBudgetAlert extends BudgetAlert {
  /** The recipients that got it, and those that did not. */
  readonly delivered: number;
  readonly undelivered: number;
}

/** One delivery of an alert to one recipient. */
export interface DueBudgetAlert extends BudgetAlert {
  /** An email address, or `webhook`. */
  readonly recipient: string;
  /** Present for the webhook, unless it was removed meanwhile. */
  readonly webhook: { readonly url: string; readonly secret: string } | undefined;
  /** The end users with the highest spend, at most `MAX_LISTED_END_USERS`. */
  readonly endUsers: readonly { readonly endUser: string; readonly spentNanoUsd: NanoUsd }[];
}

export const WEBHOOK_RECIPIENT = 'webhook';

/** The shares in percent that are reported unless an organization chooses others. */
export const DEFAULT_BUDGET_SHARES: readonly number[] = [80, 100];

/** Alerts about past periods are deleted after this time; those about totals stay. */
export const BUDGET_ALERT_RETENTION_DAYS = 90;

/** The end users that an alert names; the others are counted. */
export const MAX_LISTED_END_USERS = 20;

export function ownerKindOf({ ownerId }: Pick<Budget, 'ownerId'>): 'organization' | 'project' | 'key' {
  if (ownerId === '') return 'organization';
  return ownerId.startsWith('proj-') ? 'project' : 'key';
}
