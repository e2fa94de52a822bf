import { costOfUsage, nanoUsd, utcDay, ZERO_NANO_USD } from '@gateway/base';
import type { NanoUsd, Prices, UnixMs, Usage, UtcDay } from '@gateway/base';
import {
  BatchClaims,
  type ClaimClosing,
  type EndedClaim,
  type StoredClaim,
} from '../idempotency/batch-claims';
import { MAX_AMOUNT_NANO_USD } from '../limits';

/** A finished generation whose cost is owed. */
export interface FinishedGeneration {
  /** Also the id of its hold. */
  readonly generationId: string;
  readonly organizationId: string;
  readonly keyId: string;
  /** The project of the key when the request was admitted. */
  readonly projectId: string | undefined;
  readonly createdAt: UnixMs;
  readonly usage: Usage;
  /** Used when there is no hold. */
  readonly prices: Prices | undefined;
  /** Present when the client sent an Idempotency-Key. */
  readonly endedClaim: EndedClaim | undefined;
}

/** The stored state of a generation, read under lock at settlement. */
export interface LockedGeneration {
  /** Available to the organization before this batch. */
  readonly availableNanoUsd: NanoUsd;
  readonly hold: StoredHold | undefined;
  /** Absent unless the generation claimed the key for its current body. */
  readonly claim: StoredClaim | undefined;
}

export interface StoredHold {
  readonly organizationId: string;
  readonly keyId: string;
  readonly projectId: string | undefined;
  /** `abandoned`: voided before it was placed, so its generation cannot be settled. */
  readonly state: 'held' | 'voided' | 'settled' | 'abandoned';
  readonly amountNanoUsd: NanoUsd;
  /** Undefined if it is abandoned. */
  readonly prices: Prices | undefined;
  readonly day: UtcDay;
}

/** The cost of a generation and what is charged for it. */
export interface Settlement {
  readonly generationId: string;
  readonly organizationId: string;
  readonly createdAt: UnixMs;
  readonly prices: Prices;
  readonly origin: SettlementOrigin;
  readonly costNanoUsd: NanoUsd;
  /** What the organization pays: less than the cost when its balance does not cover it. */
  readonly chargedNanoUsd: NanoUsd;
  /** Nothing is owed, because another generation completed the same Idempotency-Key. */
  readonly isWaived: boolean;
}

/** A settlement with everything that its posting needs. */
export interface DecidedSettlement extends Settlement {
  readonly keyId: string;
  readonly projectId: string | undefined;
  readonly day: UtcDay;
  /** The amount of its open hold; zero without one. */
  readonly releasedNanoUsd: NanoUsd;
}

/** `held`: from an open hold. `late`: after its hold was voided. `no_hold`: without a hold. */
export type SettlementOrigin = 'held' | 'late' | 'no_hold';

export interface RejectedGeneration {
  readonly generationId: string;
  readonly reason: string;
}

export interface SettlementDecision {
  readonly settlements: readonly DecidedSettlement[];
  readonly claimClosings: readonly ClaimClosing[];
  /** Settled before; ignored. */
  readonly duplicates: number;
  /** Cannot be settled, also not by a retry. */
  readonly rejected: readonly RejectedGeneration[];
}

/**
 * Decides a batch in order. `locked` has one entry per generation. Of repeated
 * generation ids the first counts. Tracks what each organization has available, so
 * that the batch never charges more. No budget lowers a charge: a cost that arose is owed.
 */
export function decideSettlements(
  generations: readonly FinishedGeneration[],
  locked: readonly LockedGeneration[],
): SettlementDecision {
  const settlements: DecidedSettlement[] = [];
  const claimClosings: ClaimClosing[] = [];
  const rejected: RejectedGeneration[] = [];
  const decided = new Set<string>();
  const available = new Map<string, bigint>();
  const batchClaims = new BatchClaims();
  let duplicates = 0;

  generations.forEach((generation, index) => {
    const stored = locked[index];
    if (!stored) throw new Error(`generation ${generation.generationId} was not locked`);
    const { generationId, organizationId } = generation;
    if (stored.hold?.state === 'settled' || decided.has(generationId)) {
      // A duplicate from another organization is an error, not a redelivery.
      if (stored.hold && stored.hold.organizationId !== organizationId) {
        rejected.push({ generationId, reason: FOREIGN_HOLD });
      } else {
        duplicates += 1;
      }
      return;
    }
    const terms = termsOf(generation, stored.hold);
    if ('reason' in terms) {
      rejected.push({ generationId, reason: terms.reason });
      return;
    }
    decided.add(generationId);
    const claim = batchClaims.settle(generationId, generation.endedClaim, stored.claim);
    if (claim.closing) claimClosings.push(claim.closing);
    const left = available.get(organizationId) ?? stored.availableNanoUsd;
    const reachable = left + terms.releasedNanoUsd;
    const owed = claim.isWaived ? ZERO_NANO_USD : terms.costNanoUsd;
    const chargedNanoUsd = nanoUsd(owed < reachable ? owed : reachable);
    available.set(organizationId, reachable - chargedNanoUsd);
    settlements.push({ generationId, organizationId, chargedNanoUsd, isWaived: claim.isWaived, ...terms });
  });
  return { settlements, claimClosings, duplicates, rejected };
}

/**
 * The result of `decideSettlements` if each generation has an open hold of its
 * organization, at the prices of the event, that covers its cost. The full cost is
 * charged then, whatever the balance.
 *
 * @returns undefined if the batch needs the slow path in any case.
 */
export function predictSettlements(
  generations: readonly FinishedGeneration[],
): readonly Settlement[] | undefined {
  const settlements: Settlement[] = [];
  for (const { generationId, organizationId, createdAt, usage, prices, endedClaim } of generations) {
    if (prices === undefined || endedClaim !== undefined) return undefined;
    const costNanoUsd = costOfUsage(usage, prices);
    if (costNanoUsd > MAX_AMOUNT_NANO_USD) return undefined;
    settlements.push({
      generationId,
      organizationId,
      createdAt,
      prices,
      origin: 'held',
      costNanoUsd,
      chargedNanoUsd: costNanoUsd,
      isWaived: false,
    });
  }
  return settlements;
}

const FOREIGN_HOLD = 'its hold belongs to another organization';

type Terms = Omit<DecidedSettlement, 'generationId' | 'organizationId' | 'chargedNanoUsd' | 'isWaived'>;

/** The prices, day and key that apply, and the cost of the usage at these prices. */
function termsOf(generation: FinishedGeneration, hold: StoredHold | undefined): Terms | { reason: string } {
  if (hold && hold.organizationId !== generation.organizationId) return { reason: FOREIGN_HOLD };
  if (hold?.state === 'abandoned')
    return { reason: 'its hold was voided before it was placed, or is past its retention' };
  const prices = hold?.prices ?? generation.prices;
  if (!prices) return { reason: 'it has neither a hold nor prices' };
  const costNanoUsd = costOfUsage(generation.usage, prices);
  if (costNanoUsd > MAX_AMOUNT_NANO_USD)
    return { reason: 'its cost exceeds the largest amount of the ledger' };
  const { createdAt } = generation;
  return {
    createdAt,
    prices,
    costNanoUsd,
    keyId: hold?.keyId ?? generation.keyId,
    projectId: hold ? hold.projectId : generation.projectId,
    day: hold?.day ?? utcDay(createdAt),
    origin: !hold ? 'no_hold' : hold.state === 'held' ? 'held' : 'late',
    releasedNanoUsd: hold?.state === 'held' ? hold.amountNanoUsd : ZERO_NANO_USD,
  };
}
