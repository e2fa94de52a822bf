import type { EncryptedResponse } from './claim';
import { ENDING_RULES, type IdempotentEnding } from './endings';

/** The claim that a generation ran under, and how it ended. */
export interface EndedClaim {
  readonly scope: string;
  readonly ending: IdempotentEnding;
  /** Returned to replays; present only for a completed generation. */
  readonly response: EncryptedResponse | undefined;
}

export interface StoredClaim {
  readonly scope: string;
  readonly state: 'running' | 'released' | 'completed';
  /** The generation that runs the request, or ran it last; once completed, the one whose response is stored. */
  readonly generationId: string;
}

/** Completes a claim with a response, or releases it without one. */
export interface ClaimClosing {
  readonly scope: string;
  readonly generationId: string;
  readonly response: EncryptedResponse | undefined;
}

export interface ClaimDecision {
  /** Nothing is owed: another generation completed the same key. */
  readonly isWaived: boolean;
  readonly closing?: ClaimClosing;
}

/**
 * Tracks claims through a batch of settlements. The first generation with a
 * response to store completes its claim; later ones under the same key are not
 * charged. A generation that frees its key releases the claim only while it holds
 * it, not after a takeover.
 */
export class BatchClaims {
  private readonly changed = new Map<string, StoredClaim>();

  settle(
    generationId: string,
    ended: EndedClaim | undefined,
    stored: StoredClaim | undefined,
  ): ClaimDecision {
    if (!stored) return { isWaived: false };
    const { scope } = stored;
    const claim = this.changed.get(scope) ?? stored;
    if (claim.state === 'completed') return { isWaived: claim.generationId !== generationId };
    const response = responseToStore(ended);
    const holdsClaim = claim.state === 'running' && claim.generationId === generationId;
    if (!response && !holdsClaim) return { isWaived: false };
    this.changed.set(scope, { scope, generationId, state: response ? 'completed' : 'released' });
    return { isWaived: false, closing: { scope, generationId, response } };
  }
}

function responseToStore(ended: EndedClaim | undefined): EncryptedResponse | undefined {
  if (!ended || ENDING_RULES[ended.ending].whenSettled !== 'store_response') return undefined;
  return ended.response;
}
