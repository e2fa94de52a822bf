import { nanoUsd, type NanoUsd } from '@gateway/base';
import type { Hold, HoldResult } from '@gateway/contracts/billing-ledger';
import type { ElasticHold } from '@gateway/contracts/inference-router';
import { affordableOutputTokens, heldCostOf, type ValidatedChatRequest } from '@gateway/public-api';
import { limits } from '../limits';
import type { Client } from './admissible';
import type { HoldWaits, WaitedHold } from './hold-waits';
import type { Reservation } from './reservation';

export interface PlacedHold extends WaitedHold {
  /** For the router, unless the hold covers the whole output limit. */
  readonly elastic: ElasticHold | undefined;
}

export interface ElasticHoldRequest {
  /** For the whole output limit. */
  readonly hold: Hold;
  readonly chat: ValidatedChatRequest;
  /** Output tokens of the first hold and of each extension. */
  readonly sliceTokens: number;
}

/** All input and one slice of the output. */
export function firstSlice({ hold, chat, sliceTokens }: ElasticHoldRequest): Hold {
  return covering(hold, chat, Math.min(sliceTokens, chat.maxOutputTokens));
}

function covering(hold: Hold, chat: ValidatedChatRequest, outputTokens: number): Hold {
  return { ...hold, amountNanoUsd: heldCostOf(chat, outputTokens) };
}

/**
 * Decides after the attempt for the first slice. If it does not fit, holds as many tokens as
 * do; the router extends the hold. If even few tokens do not fit, waits for running requests
 * like any other hold.
 *
 * @param first the result of that attempt
 */
export async function placeElasticHold(
  {
    reservation,
    holdWaits,
    client,
  }: {
    readonly reservation: Reservation;
    readonly holdWaits: HoldWaits;
    readonly client: Client;
  },
  { hold, chat, sliceTokens }: ElasticHoldRequest,
  first: HoldResult,
): Promise<PlacedHold> {
  const placed = (waited: WaitedHold, outputTokens: number): PlacedHold => {
    if (outputTokens >= chat.maxOutputTokens) return { ...waited, elastic: undefined };
    const covered = { hold: covering(hold, chat, outputTokens), outputTokens };
    return { ...waited, elastic: { ...covered, sliceTokens, fullAmountNanoUsd: chat.heldCostNanoUsd } };
  };
  const slice = Math.min(sliceTokens, chat.maxOutputTokens);
  const { maxAttempts, minOutputTokens } = limits.elasticHolds;
  let outputTokens = slice;
  let result = first;
  for (let attempt = 1; ; attempt += 1) {
    const left = leftAfter(result);
    if (left === undefined) return placed({ result, waitedMs: 0 }, outputTokens);
    outputTokens = Math.min(outputTokens - 1, affordableOutputTokens(left, chat));
    if (outputTokens < minOutputTokens || attempt === maxAttempts) break;
    result = await reservation.hold(covering(hold, chat, outputTokens));
  }
  const request = covering(hold, chat, slice);
  return placed(await holdWaits.hold(reservation, request, client, await reservation.hold(request)), slice);
}

/** What a refusal leaves for a smaller hold; undefined when the hold was not refused for its amount. */
function leftAfter({ outcome }: HoldResult): NanoUsd | undefined {
  switch (outcome?.$case) {
    case 'insufficientCredits':
      return nanoUsd(outcome.value.availableNanoUsd);
    case 'budgetExceeded': {
      const { limitNanoUsd, usedNanoUsd } = outcome.value;
      return nanoUsd(limitNanoUsd > usedNanoUsd ? limitNanoUsd - usedNanoUsd : 0n);
    }
    default:
      return undefined;
  }
}
