import type { UnixMs } from '@gateway/base';
import type { AddCreditOutcome, Balance, Credit } from './credit/balance';
import type { ClaimOutcome, ClaimRef, ClaimRequest } from './idempotency/claim';
import type { HoldOutcome, HoldRef, HoldRequest } from './credit/hold';
import type { FinishedGeneration, RejectedGeneration, Settlement } from './settlement/settlement';

/** An announcement of a settlement, in the form the event log takes. */
export interface Announcement {
  readonly key: string;
  readonly payload: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes the announcement of a settlement that is about to be booked, with the time of its posting. */
export type Announce = (settlement: Settlement, postedUnixMs: UnixMs) => Announcement;

export interface SettlementReport {
  readonly settlements: readonly Settlement[];
  readonly duplicates: number;
  readonly rejected: readonly RejectedGeneration[];
}

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
   * Decides each hold on its own, in order, and returns outcomes in the same order. Hold ids within a call
   * differ. Credit is checked before the key's budget, and that before the organization's. An open hold is
   * returned as held.
   */
  holdCredit(holds: readonly HoldRequest[]): Promise<readonly HoldOutcome[]>;
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
  readHealth(): Promise<LedgerHealth>;
}

/** Open holds, counted over all organizations. */
export interface LedgerHealth {
  readonly openHolds: bigint;
  readonly heldNanoUsd: bigint;
  /** When the oldest open hold was admitted. */
  readonly oldestHold: UnixMs | undefined;
  /** Past their deadline and not voided yet. */
  readonly overdueHolds: bigint;
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
