import { backoffMs, sleep } from '@gateway/base';
import type { Hold, HoldResult } from '@gateway/contracts/billing-ledger';
import { limits } from '../limits';
import type { Client } from './admissible';
import type { Reservation } from './reservation';

/**
 * Places holds. A hold that only open holds of other requests prevent is tried
 * again for a short time, since most of them are settled far below their amount.
 */
export interface HoldWaits {
  /**
   * @param first the result of a first attempt
   * @returns the last refusal when no attempt succeeds in time, or the client disconnects.
   */
  hold(reservation: Reservation, hold: Hold, client: Client, first: HoldResult): Promise<WaitedHold>;
}

export interface WaitedHold {
  readonly result: HoldResult;
  readonly waitedMs: number;
}

export interface HoldWaitsOptions {
  /** How long a request waits. 0: it does not. */
  readonly maxWaitMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

export function createHoldWaits({ maxWaitMs, now, random }: HoldWaitsOptions): HoldWaits {
  /** Waiting requests by organization. */
  const waiting = new Map<string, number>();

  async function hold(
    reservation: Reservation,
    request: Hold,
    client: Client,
    first: HoldResult,
  ): Promise<WaitedHold> {
    if (!isTemporary(first)) return { result: first, waitedMs: 0 };
    const { organizationId } = request;
    const count = waiting.get(organizationId) ?? 0;
    if (count >= limits.holdWaits.maxPerOrganization) return { result: first, waitedMs: 0 };
    waiting.set(organizationId, count + 1);
    const startedMs = now();
    try {
      const result = await holdAgain(reservation, request, client, first);
      return { result, waitedMs: now() - startedMs };
    } finally {
      const left = (waiting.get(organizationId) ?? 1) - 1;
      if (left === 0) waiting.delete(organizationId);
      else waiting.set(organizationId, left);
    }
  }

  async function holdAgain(
    reservation: Reservation,
    request: Hold,
    client: Client,
    first: HoldResult,
  ): Promise<HoldResult> {
    const { signal } = client;
    const endMs = now() + maxWaitMs;
    let result = first;
    for (let attempts = 1; isTemporary(result); attempts += 1) {
      const leftMs = endMs - now();
      if (leftMs <= 0) break;
      await sleep(Math.min(leftMs, backoffMs(attempts, limits.holdWaits.backoff, random())), signal);
      if (signal.aborted) break;
      result = await reservation.hold(request);
    }
    return result;
  }

  return { hold };
}

/** Whether the hold would fit if all open holds were voided. */
function isTemporary({ outcome }: HoldResult): boolean {
  switch (outcome?.$case) {
    case 'insufficientCredits': {
      const { availableNanoUsd, heldNanoUsd, estimatedCostNanoUsd } = outcome.value;
      return availableNanoUsd + heldNanoUsd >= estimatedCostNanoUsd;
    }
    case 'budgetExceeded': {
      const { limitNanoUsd, usedNanoUsd, heldNanoUsd, estimatedCostNanoUsd } = outcome.value;
      return limitNanoUsd - usedNanoUsd + heldNanoUsd >= estimatedCostNanoUsd;
    }
    default:
      return false;
  }
}
