import type { AuditEntry, ConsumerProgress, UnixMs } from '@gateway/base';
import type { AddCreditOutcome, Balance, Credit } from './credit/balance';
import type { ClaimResult, ClaimRef, ClaimRequest } from './idempotency/claim';
import type { HoldOutcome, HoldRef, HoldRequest, RunAccount } from './credit/hold';
import type { FinishedGeneration, RejectedGeneration, Settlement } from './settlement/settlement';

/** An event that announces a settlement. */
export interface Announcement {
  readonly key: string;
  readonly payload: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Creates the announcement of a settlement that is about to be posted at this time. */
export type Announce = (settlement: Settlement, postedUnixMs: UnixMs) => Announcement;

export interface SettlementReport {
  readonly settlements: readonly Settlement[];
  readonly duplicates: number;
  readonly rejected: readonly RejectedGeneration[];
}

/**
 * Stores balances, holds and postings. Duties of every implementation:
 * - Each call is atomic, and durable when the promise resolves. After a rejection
 *   the outcome is unknown; every call is idempotent.
 * - Concurrent calls, from any number of processes, are serializable. No available
 *   balance ever falls below zero.
 * - After a deadlock, a serialization failure or a lost connection, a batch is
 *   retried a limited number of times, then rejects with a LedgerUnavailableError.
 */
export interface LedgerStore {
  /**
   * Decides each hold individually, in order, and returns outcomes in the same order. Hold ids within a call
   * are distinct. Checks credit, then the budgets of run, key, project and organization for the month and in
   * total, then those for the day. Returns an open hold as held.
   */
  holdCredit(holds: readonly HoldRequest[]): Promise<readonly HoldOutcome[]>;
  /**
   * Raises open holds to the amounts of `holds`, by their budgets; the rest of a request is ignored. Decides
   * like `holdCredit`. A hold of this amount or more is returned as held, one that is not open as closed.
   */
  extendHolds(holds: readonly HoldRequest[]): Promise<readonly HoldOutcome[]>;
  /**
   * Releases open holds in full; closed holds stay unchanged. An unknown id is
   * marked as abandoned and can never be held. Returns the number of holds it closed.
   */
  voidHolds(holds: readonly HoldRef[]): Promise<number>;
  /** Voids up to `limit` holds past their deadline and returns how many. Safe to call from several processes. */
  voidOverdueHolds(limit: number): Promise<number>;
  /**
   * Posts what decideSettlements decides, closes claims and appends one
   * announcement per settlement to the event log, all in one transaction. Stores
   * `progress` in it as well, unless a generation is rejected: it must become a dead letter first.
   */
  settleGenerations(
    generations: readonly FinishedGeneration[],
    announce: Announce,
    progress?: ConsumerProgress,
  ): Promise<SettlementReport>;
  /** Writes `audit` in the transaction that adds the credit; a repeated call writes nothing. */
  addCredit(credit: Credit, audit: AuditEntry): Promise<AddCreditOutcome>;
  readBalance(organizationId: string): Promise<Balance>;
  /** Undefined for a run without a hold, and for one that was deleted. */
  readRun(organizationId: string, runId: string): Promise<RunAccount | undefined>;
  readHealth(): Promise<LedgerHealth>;
}

/** Open holds of all organizations. */
export interface LedgerHealth {
  readonly openHolds: bigint;
  readonly heldNanoUsd: bigint;
  /** When the oldest open hold was admitted. */
  readonly oldestHold: UnixMs | undefined;
  /** Past their deadline and not voided yet. */
  readonly overdueHolds: bigint;
}

/**
 * Maintains the time partitions of postings and closed holds. Safe to call from
 * several processes. A call that would block others rejects; the caller retries later.
 */
export interface LedgerHistory {
  /**
   * Creates partitions ahead of time. Without one, rows go to the default
   * partition and are moved later.
   */
  prepare(): Promise<void>;
  /** Drops partitions of closed holds past their retention and returns how many. */
  dropExpired(): Promise<number>;
  /** Deletes up to `limit` runs whose holds were all dropped and returns how many. */
  deleteOldRuns(limit: number): Promise<number>;
  /** Deletes up to `limit` hours of budgets that no rolling window reaches and returns how many. */
  deleteOldBudgetHours(limit: number): Promise<number>;
}

/** Stores claims of Idempotency-Keys. Has the duties of LedgerStore. */
export interface ClaimStore {
  /**
   * Decides each claim individually, in order, and returns results in the same
   * order. A repeated claim by the holder returns the same result.
   */
  claimIdempotencyKeys(claims: readonly ClaimRequest[]): Promise<readonly ClaimResult[]>;
  /** Extends the leases of running claims that these generations hold; others stay unchanged. */
  renewClaims(claims: readonly ClaimRef[], leaseMs: number): Promise<void>;
  /** Releases running claims that these generations hold; others stay unchanged. */
  releaseClaims(claims: readonly ClaimRef[]): Promise<void>;
  /** Deletes up to `limit` claims past their retention and returns how many. */
  deleteExpiredClaims(limit: number): Promise<number>;
}

/** The database is unreachable or does not complete work. A later retry may succeed. */
export class LedgerUnavailableError extends Error {
  override readonly name = 'LedgerUnavailableError';
}

/** The data cannot be stored, so a retry fails as well. */
export class UnbookableError extends Error {
  override readonly name = 'UnbookableError';
}

export function isUnbookable(error: unknown): error is UnbookableError {
  return error instanceof UnbookableError;
}
