import type { BudgetPeriod, NanoUsd, UnixMs } from '@gateway/base';

/** A rolling window has no start, so its shares are not reported. */
export type AlertPeriod = Exclude<BudgetPeriod, 'window'>;

/** A budget of an organization, a project or a key. */
export interface Budget {
  /** A key or a project; empty for the organization. */
  readonly ownerId: string;
  readonly ownerName: string;
  readonly period: AlertPeriod;
  readonly amountNanoUsd: NanoUsd;
}

export interface BudgetsOfOrganization {
  readonly budgets: readonly Budget[];
  /** Who gets the alerts by email. */
  readonly emails: readonly string[];
}

/** Spending has reached a share of a budget: one delivery to one recipient. */
export interface DueBudgetAlert {
  /** The same for every recipient and attempt. */
  readonly alertId: string;
  readonly organizationId: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly period: AlertPeriod;
  /** The UTC day, the Monday of the week, or the month; empty for the total. */
  readonly periodStart: string;
  readonly sharePercent: number;
  readonly budgetNanoUsd: NanoUsd;
  /** Charged when the share was found to be reached. */
  readonly spentNanoUsd: NanoUsd;
  readonly reachedAt: UnixMs;
  /** An email address, or `webhook`. */
  readonly recipient: string;
  /** Present for the webhook, unless it was removed meanwhile. */
  readonly webhook: { readonly url: string; readonly secret: string } | undefined;
}

export const WEBHOOK_RECIPIENT = 'webhook';

/** The shares in percent that are reported unless an organization chooses others. */
export const DEFAULT_BUDGET_SHARES: readonly number[] = [80, 100];

/** Alerts about past periods are deleted after this time; those about totals stay. */
export const BUDGET_ALERT_RETENTION_DAYS = 90;

export function ownerKindOf({ ownerId }: Pick<Budget, 'ownerId'>): 'organization' | 'project' | 'key' {
  if (ownerId === '') return 'organization';
  return ownerId.startsWith('proj-') ? 'project' : 'key';
}
