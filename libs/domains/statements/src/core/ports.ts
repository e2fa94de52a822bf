import type { AuditEntry, BudgetPeriod, NanoUsd, UnixMs } from '@gateway/base';
import type { Announcement } from '@gateway/billing-ledger/core';
import type { Correction, CorrectionOutcome, CorrectionPreview } from './correction';
import type { BudgetsOfOrganization, DueBudgetAlert, SentBudgetAlert } from './budget-alert';
import type { AlertRecipients, CreditAlert, DueAlert, TestAlert } from './credit-alert';
import type { SettledWindow } from './settled-window';
import type {
  Credit,
  CreditQuery,
  Entry,
  StatementDays,
  StatementMonth,
  StatementPage,
  StatementQuery,
} from './statement';

/** Statements and corrections. The duties of LedgerStore apply; each read is one snapshot. */
export interface StatementStore {
  /** Credit minus charges, in the order of `organizationIds`; zero without an account. */
  readBalances(organizationIds: readonly string[]): Promise<readonly OrganizationBalance[]>;
  /** Organizations with an account and a balance below an amount, lowest first. */
  listLowBalances(belowNanoUsd: NanoUsd, limit: number): Promise<readonly string[]>;
  /** In the order of `owners`; zero without spending. */
  readBudgetSpend(organizationId: string, owners: readonly SpendOwner[]): Promise<readonly BudgetSpend[]>;
  /** What counts against budgets of rolling windows: of each owner, in the order of `hours`. */
  readWindowSpend(
    organizationId: string,
    owners: readonly SpendOwner[],
    hours: readonly number[],
  ): Promise<readonly (readonly WindowSpend[])[]>;
  /** The end users with the most that counts against a budget of each end user, the most first. */
  listEndUserSpend(query: EndUserSpendQuery): Promise<readonly EndUserSpend[]>;
  /** In order of posting. */
  listEntries(organizationId: string, reference: string): Promise<readonly Entry[]>;
  /** Rejects with a LedgerUnavailableError while past days are still being summed; a retry continues the sums. */
  readStatement(query: StatementQuery): Promise<StatementPage>;
  /** The days of a month. Rejects like `readStatement`. */
  readDays(organizationId: string, month: string): Promise<StatementDays>;
  /** Newest first. */
  listCredits(query: CreditQuery): Promise<readonly Credit[]>;
  /** Newest first, including the current month. Rejects like `readStatement`. */
  readMonths(organizationId: string): Promise<readonly StatementMonth[]>;
  /** Moves no money. The preview can be confirmed until it expires. */
  previewCorrection(correction: Correction): Promise<CorrectionPreview>;
  /** Idempotent by its id. Writes `audit` in the transaction of the correction; a repeated call writes nothing. */
  correctCredit(correction: Correction, audit: AuditEntry): Promise<CorrectionOutcome>;
  readReconciliation(): Promise<LedgerReconciliation>;
}

/** What has budgets of its own. */
export interface SpendOwner {
  readonly scope: 'organization' | 'project' | 'key';
  /** Empty for the organization. */
  readonly ownerId: string;
  /** Only what counts against its budgets for this pattern of models. */
  readonly model?: string;
}

/** What counts against the budgets of an owner. Days and months are UTC, by the time of admission. */
export interface BudgetSpend {
  readonly todayNanoUsd: bigint;
  readonly thisWeekNanoUsd: bigint;
  readonly thisMonthNanoUsd: bigint;
  readonly totalNanoUsd: bigint;
  /** Reserved by open holds, in addition. */
  readonly heldNanoUsd: bigint;
}

/** Charges and holds that count against a budget of a rolling window. */
export interface WindowSpend {
  readonly hours: number;
  readonly spentNanoUsd: bigint;
  readonly heldNanoUsd: bigint;
}

/** A budget that each end user of a key has. */
export interface EndUserSpendQuery {
  readonly organizationId: string;
  readonly keyId: string;
  readonly period: BudgetPeriod;
  /** The length of a rolling window. */
  readonly hours: number | undefined;
  readonly limit: number;
}

/** Charges and holds of one end user that count against their budget. */
export interface EndUserSpend {
  /** Empty for the requests without an end user, which share a budget. */
  readonly endUser: string;
  readonly spentNanoUsd: bigint;
  readonly heldNanoUsd: bigint;
}

export const NO_SPEND: BudgetSpend = {
  todayNanoUsd: 0n,
  thisWeekNanoUsd: 0n,
  thisMonthNanoUsd: 0n,
  totalNanoUsd: 0n,
  heldNanoUsd: 0n,
};

interface OrganizationBalance {
  readonly organizationId: string;
  readonly balanceNanoUsd: bigint;
}

/** Creates the announcement of a window. All of its settlements are announced already. */
export type AnnounceWindow = (window: SettledWindow) => Announcement;

/**
 * What is compared with the postings: the amounts of an account, the sum of its
 * open holds, and the charge of each settled hold.
 */
export const DIFFERENCE_KINDS = [
  'credited',
  'available',
  'held',
  'charged',
  'uncollected',
  'open_holds',
  'settlement',
] as const;

/** An amount that does not match the postings. */
export interface Difference {
  readonly organizationId: string;
  readonly kind: (typeof DIFFERENCE_KINDS)[number];
  /** Set for a settlement. */
  readonly generationId: string | undefined;
  /** The amount according to the postings. */
  readonly expectedNanoUsd: bigint;
  /** The stored amount; -1 for a settlement without a hold. */
  readonly foundNanoUsd: bigint;
  readonly firstSeenUnixMs: UnixMs;
}

export interface ReconciliationRun {
  readonly organizations: number;
  /** All differences from before this time have been found; zero before the first complete round. */
  readonly reconciledUntilUnixMs: UnixMs;
  /** All current differences, oldest first, at most 1,000. */
  readonly differences: readonly Difference[];
}

/**
 * Compares balances with postings. A run takes the next organizations in a round
 * through all of them, each in one snapshot. Its cost depends on the postings since
 * the last run, not on history.
 */
export interface LedgerReconciler {
  /** Undefined: another process is running it. */
  reconcile(maxOrganizations: number): Promise<ReconciliationRun | undefined>;
  /**
   * Announces the settlements of past full hours, so that the usage domain can
   * compare. Each settlement is in one window, which follows its own announcement.
   * Takes the next organizations like `reconcile`. Returns the number of windows.
   */
  announceWindows(maxOrganizations: number, announce: AnnounceWindow): Promise<number>;
}

/** The results of reconciliation so far. */
export interface LedgerReconciliation {
  /** By any process; undefined before the first run. */
  readonly lastRun: UnixMs | undefined;
  /** All differences from before this time have been found; undefined before the first complete round. */
  readonly reconciledUntil: UnixMs | undefined;
  /** The number of current differences, at most 1,000. */
  readonly knownDifferences: number;
  /** The oldest, at most 50. */
  readonly differences: readonly Difference[];
}

/** Undefined keeps a stored setting, null removes it. */
interface CreditAlertChanges extends Partial<Pick<CreditAlert, 'emails' | 'budgetShares'>> {
  readonly thresholdNanoUsd?: NanoUsd | null;
  readonly webhookUrl?: string | null;
}

/** Settings and delivery state of the alerts of a low balance. */
export interface CreditAlertStore {
  /** Whether the secrets of webhooks can be encrypted, so that a webhook can be stored. */
  readonly storesWebhooks: boolean;
  readAlert(organizationId: string): Promise<CreditAlert>;
  /**
   * Changes the alert and resets its delivery state. `newSecret` is stored and
   * returned if the webhook URL is new. Writes `audit` in the same transaction.
   */
  setAlert(
    organizationId: string,
    changes: CreditAlertChanges,
    newSecret: string,
    audit: AuditEntry,
  ): Promise<{ readonly alert: CreditAlert; readonly secret: string | undefined }>;
  /** Records that a person has a test alert sent. */
  recordTest(audit: AuditEntry): Promise<void>;
  /** Undefined without a recipient. */
  readRecipients(organizationId: string): Promise<AlertRecipients | undefined>;
  /** Records which balances fell below their threshold, and which are above it again. */
  watch(): Promise<void>;
  /** Claims up to `limit` due alerts. No other process claims them until they are due again. */
  claimDue(limit: number): Promise<readonly DueAlert[]>;
  /** Records the result of a delivery. */
  recordDelivery(alert: DueAlert, failure: string | undefined): Promise<void>;
}

/** The budgets of an organization, from the service that owns them. */
export interface BudgetSource {
  list(organizationId: string): Promise<BudgetsOfOrganization>;
}

/** An organization that was charged since its budgets were last compared. */
export interface ChargedOrganization {
  readonly organizationId: string;
  readonly chargedNanoUsd: bigint;
}

/** Alerts about shares of budgets. Several processes may call every method at once. */
export interface BudgetAlertStore {
  /** The organizations that were charged since, or have end users to report, the longest unchecked first. */
  listCharged(limit: number): Promise<readonly ChargedOrganization[]>;
  /**
   * Records each share that spending has reached in the current period, with one delivery per recipient, and that the
   * organization was compared at this charge. A share that is recorded already stays as it is. End users who reached a
   * share are in one alert together, at most one an hour.
   */
  recordReached(organization: ChargedOrganization, budgets: BudgetsOfOrganization): Promise<void>;
  /** Claims up to `limit` deliveries. No other process claims them until they are due again. */
  claimDue(limit: number): Promise<readonly DueBudgetAlert[]>;
  recordDelivered(alert: DueBudgetAlert): Promise<void>;
  /** Newest first. */
  listAlerts(organizationId: string, limit: number): Promise<readonly SentBudgetAlert[]>;
  /** Deletes alerts about days and months that ended long ago. */
  deleteOld(): Promise<void>;
}

/** Delivers an alert to one recipient; rejects if that failed. */
export interface BudgetAlertSender {
  send(alert: DueBudgetAlert): Promise<void>;
}

/**
 * Delivers an alert or a test to its recipients. Rejects with an AlertNotDeliveredError,
 * whose message is safe to show to customers: it reveals nothing about networks.
 */
export interface AlertSender {
  send(alert: DueAlert | TestAlert): Promise<void>;
}

export class AlertNotDeliveredError extends Error {
  override readonly name = 'AlertNotDeliveredError';
}
