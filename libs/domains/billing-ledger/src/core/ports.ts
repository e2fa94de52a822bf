import type { UnixMs } from '@gateway/base';
import type { CreditAlert, DueAlert } from './alerts/credit-alert';
import type { AddCreditOutcome, Balance, Credit } from './credit/balance';
import type { Correction, CorrectionOutcome, CorrectionPreview } from './credit/correction';
import type { ClaimOutcome, ClaimRef, ClaimRequest } from './idempotency/claim';
import type { HoldOutcome, HoldRef, HoldRequest } from './credit/hold';
import type { SettledWindow } from './settlement/settled-window';
import type { FinishedGeneration, RejectedGeneration, Settlement } from './settlement/settlement';
import type { Entry, StatementMonth, StatementPage, StatementQuery } from './statement/statement';

/** An announcement of a settlement, in the form the event log takes. */
export interface Announcement {
  readonly key: string;
  readonly payload: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes the announcement of a settlement that is about to be booked, with the time of its posting. */
export type Announce = (settlement: Settlement, postedUnixMs: UnixMs) => Announcement;

/** Makes the announcement of a window whose settlements were all announced before. */
export type AnnounceWindow = (window: SettledWindow) => Announcement;

export interface SettlementReport {
  readonly settlements: readonly Settlement[];
  readonly duplicates: number;
  readonly rejected: readonly RejectedGeneration[];
}

/**
 * How holds are likely to end, which decides nothing but what it costs: `held`
 * tries to take all at once first, `unknown` decides each right away.
 */
export type HoldExpectation = 'held' | 'unknown';

/**
 * Where the money is. Duties of every implementation:
 * - Each call is one atomic step: all of it is durable when the promise
 *   resolves. A rejection leaves its outcome unknown; every call is safe to repeat.
 * - Concurrent calls, from any number of processes, have the effect of some
 *   order of them one after the other. No available balance ever falls below zero.
 * - A batch that loses to another (deadlock, serialization, lost connection) is
 *   tried again a bounded number of times, then rejects with a LedgerUnavailableError.
 */
export interface LedgerStore {
  /**
   * Decides each hold on its own, in order; answers in the same order. Hold ids
   * within a call differ. Credit is checked before the key's budget, that
   * before the organization's. A hold that is open is answered as held.
   *
   * @param expectation - by default `held`.
   */
  holdCredit(holds: readonly HoldRequest[], expectation?: HoldExpectation): Promise<readonly HoldOutcome[]>;
  /**
   * Voids open holds in full and leaves closed ones alone. One that is not
   * known was overtaken: it will never be taken. Answers how many it closed.
   */
  voidHolds(holds: readonly HoldRef[]): Promise<number>;
  /** Voids up to `limit` holds whose deadline has passed; answers how many. Any number of processes may call it. */
  voidOverdueHolds(limit: number): Promise<number>;
  /**
   * Books what decideSettlements decides and appends an announcement per
   * settlement to the event log, in one transaction with the claims it closes.
   */
  settleGenerations(
    generations: readonly FinishedGeneration[],
    announce: Announce,
  ): Promise<SettlementReport>;
  addCredit(credit: Credit): Promise<AddCreditOutcome>;
  readBalance(organizationId: string): Promise<Balance>;
}

/**
 * The past, in tables by time. Any number of processes may call it. A call that
 * would keep others waiting gives up and rejects; it is made again later.
 */
export interface LedgerHistory {
  /**
   * Makes the tables of the time that comes. Nothing is refused for want of
   * them, but what is written meanwhile has to be moved.
   */
  prepare(): Promise<void>;
  /** Forgets closed holds past their retention, a table at a time; answers how many tables. */
  forget(): Promise<number>;
}

/** How the ledger does, at a glance. */
export interface LedgerHealth {
  readonly openHolds: bigint;
  readonly heldNanoUsd: bigint;
  /** When the oldest open hold was admitted. */
  readonly oldestHold: UnixMs | undefined;
  /** Past their deadline and not voided yet. */
  readonly overdueHolds: bigint;
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

/** What people look at and correct. The duties of LedgerStore hold; whatever it reads is of one moment. */
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
  readHealth(): Promise<LedgerHealth>;
  readReconciliation(): Promise<LedgerReconciliation>;
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

/** Who runs the request of an Idempotency-Key. The duties of LedgerStore hold. */
export interface ClaimStore {
  /**
   * Decides each claim on its own and answers in the same order; of one key the
   * first in order comes first. The holder may claim again and is answered as at first.
   */
  claimIdempotencyKeys(claims: readonly ClaimRequest[]): Promise<readonly ClaimOutcome[]>;
  /** Prolongs the leases of running claims that these generations hold; leaves others alone. */
  renewClaims(claims: readonly ClaimRef[], leaseMs: number): Promise<void>;
  /** Frees the keys of running claims that these generations hold; leaves others alone. */
  releaseClaims(claims: readonly ClaimRef[]): Promise<void>;
  /** Forgets up to `limit` claims past their retention; answers how many. */
  trimClaims(limit: number): Promise<number>;
}

/** The database cannot be reached or does not get anything done; trying again later may help. */
export class LedgerUnavailableError extends Error {
  override readonly name = 'LedgerUnavailableError';
}

/** The data itself cannot be booked; trying again never helps. */
export class UnbookableError extends Error {
  override readonly name = 'UnbookableError';
}

export function isUnbookable(error: unknown): error is UnbookableError {
  return error instanceof UnbookableError;
}
