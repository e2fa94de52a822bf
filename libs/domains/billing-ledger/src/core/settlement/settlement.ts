import { costOfUsage, nanoUsd, utcDay, ZERO_NANO_USD } from '@gateway/base';
import type { NanoUsd, Prices, UnixMs, Usage, UtcDay } from '@gateway/base';
import {
  ClaimBook,
  type ClaimClosing,
  type IdempotentOutcome,
  type KnownClaim,
} from '../idempotency/claim-book';
import { MAX_AMOUNT_NANO_USD } from '../limits';

/** A generation that has ended and owes its cost. */
export interface FinishedGeneration {
  /** Also the id of its hold. */
  readonly generationId: string;
  readonly organizationId: string;
  readonly keyId: string;
  readonly createdUnixMs: UnixMs;
  readonly usage: Usage;
  /** Used when the hold is not known. */
  readonly prices: Prices | undefined;
  /** Present when the caller sent an Idempotency-Key. */
  readonly idempotentOutcome: IdempotentOutcome | undefined;
}

/** What the books say about a generation at the moment of settlement, under lock. */
export interface OpenedGeneration {
  /** The organization's, before this batch. */
  readonly availableNanoUsd: NanoUsd;
  readonly hold: KnownHold | undefined;
  /** Absent unless the generation claimed it for the body it is about. */
  readonly claim: KnownClaim | undefined;
}

export interface KnownHold {
  readonly organizationId: string;
  readonly keyId: string;
  /** `given_up`: voided before it could be taken, so nothing may run on it. */
  readonly state: 'held' | 'voided' | 'settled' | 'given_up';
  readonly amountNanoUsd: NanoUsd;
  readonly prices: Prices;
  readonly day: UtcDay;
}

/** What a generation comes to. */
export interface Settlement {
  readonly generationId: string;
  readonly organizationId: string;
  readonly createdUnixMs: UnixMs;
  readonly prices: Prices;
  readonly origin: SettlementOrigin;
  readonly costNanoUsd: NanoUsd;
  /** What the organization pays: less than the cost when its balance is used up. */
  readonly chargedNanoUsd: NanoUsd;
  /** Nothing is owed, since another generation answered for the same Idempotency-Key. */
  readonly isWaived: boolean;
}

/** How one generation is booked. */
export interface DecidedSettlement extends Settlement {
  readonly keyId: string;
  readonly day: UtcDay;
  /** What its open hold bound. */
  readonly releasedNanoUsd: NanoUsd;
}

/** `held`: from its hold. `late`: its hold was voided before. `unseen`: it never had one. */
export type SettlementOrigin = 'held' | 'late' | 'unseen';

export interface RejectedGeneration {
  readonly generationId: string;
  readonly reason: string;
}

export interface SettlementDecision {
  readonly settlements: readonly DecidedSettlement[];
  readonly claimClosings: readonly ClaimClosing[];
  /** Booked before; nothing happens. */
  readonly duplicates: number;
  /** Never to be booked, however often they come again. */
  readonly rejected: readonly RejectedGeneration[];
}

/**
 * Decides a batch in order. `opened` has an entry per generation; generation
 * ids may repeat, the first counts. Each organization's available amount is
 * carried along, so that the batch as a whole takes no more than there is.
 */
export function decideSettlements(
  generations: readonly FinishedGeneration[],
  opened: readonly OpenedGeneration[],
): SettlementDecision {
  const settlements: DecidedSettlement[] = [];
  const claimClosings: ClaimClosing[] = [];
  const rejected: RejectedGeneration[] = [];
  const decided = new Set<string>();
  const available = new Map<string, bigint>();
  const claims = new ClaimBook();
  let duplicates = 0;

  generations.forEach((generation, index) => {
    const books = opened[index];
    if (!books) throw new Error(`generation ${generation.generationId} was not opened`);
    const { generationId, organizationId } = generation;
    if (books.hold?.state === 'settled' || decided.has(generationId)) {
      // A forged duplicate is still a fault that someone should see.
      if (books.hold && books.hold.organizationId !== organizationId) {
        rejected.push({ generationId, reason: FOREIGN_HOLD });
      } else {
        duplicates += 1;
      }
      return;
    }
    const terms = termsOf(generation, books.hold);
    if ('reason' in terms) {
      rejected.push({ generationId, reason: terms.reason });
      return;
    }
    decided.add(generationId);
    const claim = claims.settle(generationId, generation.idempotentOutcome, books.claim);
    if (claim.closing) claimClosings.push(claim.closing);
    const left = available.get(organizationId) ?? books.availableNanoUsd;
    const reachable = left + terms.releasedNanoUsd;
    const owed = claim.isWaived ? ZERO_NANO_USD : terms.costNanoUsd;
    const chargedNanoUsd = nanoUsd(owed < reachable ? owed : reachable);
    available.set(organizationId, reachable - chargedNanoUsd);
    settlements.push({ generationId, organizationId, chargedNanoUsd, isWaived: claim.isWaived, ...terms });
  });
  return { settlements, claimClosings, duplicates, rejected };
}

/**
 * What `decideSettlements` comes to when the books are as generations leave them:
 * each has an open hold of its organization at the prices it tells, which covers
 * its cost. Then the cost is charged, whatever else is on the account.
 *
 * @returns undefined when the books have to be looked at anyway.
 */
export function expectHeld(generations: readonly FinishedGeneration[]): readonly Settlement[] | undefined {
  const expected: Settlement[] = [];
  for (const {
    generationId,
    organizationId,
    createdUnixMs,
    usage,
    prices,
    idempotentOutcome,
  } of generations) {
    if (prices === undefined || idempotentOutcome !== undefined) return undefined;
    const costNanoUsd = costOfUsage(usage, prices);
    if (costNanoUsd > MAX_AMOUNT_NANO_USD) return undefined;
    expected.push({
      generationId,
      organizationId,
      createdUnixMs,
      prices,
      origin: 'held',
      costNanoUsd,
      chargedNanoUsd: costNanoUsd,
      isWaived: false,
    });
  }
  return expected;
}

const FOREIGN_HOLD = 'its hold belongs to another organization';

type Terms = Omit<DecidedSettlement, 'generationId' | 'organizationId' | 'chargedNanoUsd' | 'isWaived'>;

/** Whose prices, day and key apply, and what the usage costs by them. */
function termsOf(generation: FinishedGeneration, hold: KnownHold | undefined): Terms | { reason: string } {
  if (hold && hold.organizationId !== generation.organizationId) return { reason: FOREIGN_HOLD };
  if (hold?.state === 'given_up') return { reason: 'its hold was given up before it was taken' };
  const prices = hold?.prices ?? generation.prices;
  if (!prices) return { reason: 'it has neither a hold nor prices' };
  const costNanoUsd = costOfUsage(generation.usage, prices);
  if (costNanoUsd > MAX_AMOUNT_NANO_USD) return { reason: 'its cost is larger than any the ledger books' };
  const { createdUnixMs } = generation;
  return {
    createdUnixMs,
    prices,
    costNanoUsd,
    keyId: hold?.keyId ?? generation.keyId,
    day: hold?.day ?? utcDay(createdUnixMs),
    origin: !hold ? 'unseen' : hold.state === 'held' ? 'held' : 'late',
    releasedNanoUsd: hold?.state === 'held' ? hold.amountNanoUsd : ZERO_NANO_USD,
  };
}
