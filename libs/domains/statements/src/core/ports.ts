import type { UnixMs } from '@gateway/base';
import type { Announcement } from '@gateway/billing-ledger/core';
import type { Correction, CorrectionOutcome, CorrectionPreview } from './correction';
import type { CreditAlert, DueAlert } from './credit-alert';
import type { SettledWindow } from './settled-window';
import type { Entry, StatementMonth, StatementPage, StatementQuery } from './statement';

/** What people look at and correct. The duties of LedgerStore apply; each read is one snapshot. */
export interface LedgerBooks {
  /** In the order in which they were posted. */
  listEntries(organizationId: string, reference: string): Promise<readonly Entry[]>;
  /** Rejects with a LedgerUnavailableError while the days before are still being summed up; asking again goes on with that. */
  readStatement(query: StatementQuery): Promise<StatementPage>;
  /** Newest first; the present month so far. Rejects like `readStatement`. */
  readMonths(organizationId: string): Promise<readonly StatementMonth[]>;
  /** Moves nothing. What it previewed can be corrected for a while. */
  previewCorrection(correction: Correction): Promise<CorrectionPreview>;
  /** Idempotent by its id. */
  correctCredit(correction: Correction): Promise<CorrectionOutcome>;
  readReconciliation(): Promise<LedgerReconciliation>;
}

/** Makes the announcement of a window whose settlements were all announced before. */
export type AnnounceWindow = (window: SettledWindow) => Announcement;

/**
 * What is compared with the postings: an account's figures, what its open holds
 * bind, and what each settled hold says it charged.
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

/** Something that does not agree with the postings. */
export interface Difference {
  readonly organizationId: string;
  readonly kind: (typeof DIFFERENCE_KINDS)[number];
  /** Of a settlement. */
  readonly generationId: string | undefined;
  /** What the postings say. */
  readonly expectedNanoUsd: bigint;
  /** What is there; -1 for a settlement whose hold is gone. */
  readonly foundNanoUsd: bigint;
  readonly firstSeenUnixMs: UnixMs;
}

export interface ReconciliationRun {
  readonly organizations: number;
  /** What was wrong before this time has been found; zero before the first whole round. */
  readonly reconciledUntilUnixMs: UnixMs;
  /** All that are known, the oldest first, up to a thousand. */
  readonly differences: readonly Difference[];
}

/**
 * Compares the books with the postings. A run takes the next organizations in a
 * round through all of them, each as of one moment, whatever else goes on; what
 * it costs depends on what happened since, not on all that ever did.
 */
export interface LedgerReconciler {
  /** Undefined: another process is at it. */
  reconcile(maxOrganizations: number): Promise<ReconciliationRun | undefined>;
  /**
   * Announces what was settled in whole hours that are over, each settlement in
   * one window and behind its own announcement, so that whoever keeps the usage
   * can compare. Takes the next organizations like `reconcile`; answers how many
   * windows it announced.
   */
  announceWindows(maxOrganizations: number, announce: AnnounceWindow): Promise<number>;
}

/** What the comparisons with the postings have found so far. */
export interface LedgerReconciliation {
  /** Of any process; undefined before the first. */
  readonly lastRun: UnixMs | undefined;
  /** What was wrong before this time has been found; undefined before the first whole round. */
  readonly reconciledUntil: UnixMs | undefined;
  /** How many are known, up to a thousand. */
  readonly knownDifferences: number;
  /** The oldest of them, up to fifty. */
  readonly differences: readonly Difference[];
}

/** Who is told of a low balance. */
export interface CreditAlertStore {
  readAlert(organizationId: string): Promise<CreditAlert>;
  /**
   * Replaces it; one that is due already is told anew. `newSecret` is for an
   * address that was not there before, and is answered when it was taken.
   */
  setAlert(
    organizationId: string,
    alert: Pick<CreditAlert, 'thresholdNanoUsd' | 'webhookUrl' | 'emails'>,
    newSecret: string,
  ): Promise<{ readonly alert: CreditAlert; readonly secret: string | undefined }>;
  /** What would be sent now, whatever the balance; undefined without a recipient. */
  readDue(organizationId: string): Promise<DueAlert | undefined>;
  /** Notes which balances fell below their threshold, and which are above it again. */
  watch(now: UnixMs): Promise<void>;
  /** Takes up to `limit` alerts that have to be sent; nobody else takes them until they are due again. */
  takeDue(now: UnixMs, limit: number): Promise<readonly DueAlert[]>;
  /** Notes how it went. */
  noteSent(alert: DueAlert, now: UnixMs, failure: string | undefined): Promise<void>;
}

/**
 * Brings an alert to its recipients. Rejects with an AlertNotDeliveredError,
 * whose message may be shown to who set it up: it tells nothing of networks.
 */
export interface AlertSender {
  send(alert: DueAlert): Promise<void>;
}

export class AlertNotDeliveredError extends Error {
  override readonly name = 'AlertNotDeliveredError';
}
