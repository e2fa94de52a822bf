import { KEY_RULES, type IdempotentEnding } from './endings';

/** What a generation under an Idempotency-Key came to. */
export interface IdempotentOutcome {
  readonly scope: string;
  readonly ending: IdempotentEnding;
  /** What a replay answers; only of an answered generation. */
  readonly responseJson: Uint8Array | undefined;
}

export interface KnownClaim {
  readonly scope: string;
  readonly state: 'running' | 'released' | 'completed';
  /** Who runs the request, or last did; once completed, who answered it. */
  readonly generationId: string;
}

/** What happens to a claim: completed with the answer, or released without one. */
export interface ClaimClosing {
  readonly scope: string;
  readonly generationId: string;
  readonly responseJson: Uint8Array | undefined;
}

export interface SettledClaim {
  /** Nothing is owed: another generation answered for the same key. */
  readonly isWaived: boolean;
  readonly closing?: ClaimClosing;
}

/**
 * Carries claims through a batch of settlements: the first generation whose
 * answer is kept completes its claim, and from then on no other is charged under
 * it. One that frees its key releases the claim if it still has it; after a
 * takeover it is the newer one's.
 */
export class ClaimBook {
  private readonly changed = new Map<string, KnownClaim>();

  settle(
    generationId: string,
    outcome: IdempotentOutcome | undefined,
    known: KnownClaim | undefined,
  ): SettledClaim {
    if (!known) return { isWaived: false };
    const { scope } = known;
    const claim = this.changed.get(scope) ?? known;
    if (claim.state === 'completed') return { isWaived: claim.generationId !== generationId };
    const responseJson = keptAnswer(outcome);
    const holdsClaim = claim.state === 'running' && claim.generationId === generationId;
    if (!responseJson && !holdsClaim) return { isWaived: false };
    this.changed.set(scope, { scope, generationId, state: responseJson ? 'completed' : 'released' });
    return { isWaived: false, closing: { scope, generationId, responseJson } };
  }
}

function keptAnswer(outcome: IdempotentOutcome | undefined): Uint8Array | undefined {
  if (!outcome || KEY_RULES[outcome.ending].whenSettled !== 'keep_answer') return undefined;
  return outcome.responseJson;
}
