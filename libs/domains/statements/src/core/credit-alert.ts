import type { NanoUsd, UnixMs } from '@gateway/base';
import { DEFAULT_BUDGET_SHARES } from './budget-alert';

/** When and to whom a low balance of an organization is reported. */
export interface CreditAlert {
  /** Undefined: no alert. */
  readonly thresholdNanoUsd: NanoUsd | undefined;
  readonly webhookUrl: string | undefined;
  readonly emails: readonly string[];
  /** When the available amount fell below the threshold. */
  readonly belowSince: UnixMs | undefined;
  readonly lastSent: UnixMs | undefined;
  /** Why the last delivery failed. */
  readonly lastFailure: string | undefined;
  /** The shares of budgets, in percent, that are reported. */
  readonly budgetShares: readonly number[];
}

export const NO_ALERT: CreditAlert = {
  thresholdNanoUsd: undefined,
  webhookUrl: undefined,
  emails: [],
  belowSince: undefined,
  lastSent: undefined,
  lastFailure: undefined,
  budgetShares: DEFAULT_BUDGET_SHARES,
};

/** Where the alerts of an organization are sent. */
export interface AlertRecipients {
  readonly organizationId: string;
  readonly webhookUrl: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly emails: readonly string[];
}

/** An alert to deliver. */
export interface DueAlert extends AlertRecipients {
  readonly thresholdNanoUsd: NanoUsd;
  readonly availableNanoUsd: NanoUsd;
  readonly belowSince: UnixMs;
}

/** A message that says that it is a test, and nothing about the balance. */
export interface TestAlert extends AlertRecipients {
  readonly testedAt: UnixMs;
}

/** The last failure stays visible afterwards. */
export const MAX_ALERT_ATTEMPTS = 10;

/** The delay before the next attempt. */
export function retryAfterMs(attempt: number): number {
  return Math.min(30_000 * 2 ** (attempt - 1), 3_600_000);
}
