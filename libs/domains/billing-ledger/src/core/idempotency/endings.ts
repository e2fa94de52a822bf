/** How a request with an Idempotency-Key ended, as far as whoever tells it knows. */
export type IdempotentEnding =
  /** No generation ran: refused, or failed before the provider's first event. */
  | 'refused'
  /** The generation came to its end, so there is an answer. */
  | 'answered'
  /** The generation broke off after the provider's first event. */
  | 'failed'
  /** The generation was cancelled: its deadline passed, or nobody wanted it. */
  | 'cancelled'
  /** The connection to the router was lost: a settlement may come or not. */
  | 'unknown';

export interface KeyRule {
  /**
   * What the key does as soon as the edge says that its request has ended.
   * - `free`: the next request with the key runs, whatever its body.
   * - `in_flight`: the next request is told to wait for the settlement.
   */
  readonly whenEnded: 'free' | 'in_flight';
  /**
   * What the key does when the generation is settled.
   * - `keep_answer`: the next request with the key and the same body gets the answer.
   * - `free`: as above.
   */
  readonly whenSettled: 'free' | 'keep_answer';
}

/**
 * What each ending of a request does with its Idempotency-Key: the one place
 * that decides it. Edge and router only say what happened.
 *
 * A request whose process died says nothing. Its key stays in flight until the
 * lease of its claim ends, then a request with the same body may run; a
 * settlement that comes later still follows the table.
 *
 * Only the generation that holds the claim frees its key: after a takeover the
 * key is the newer one's. The first answer is kept whoever holds the claim, and
 * no other generation under the key is charged from then on (see ClaimBook).
 */
export const KEY_RULES: Readonly<Record<IdempotentEnding, KeyRule>> = {
  refused: { whenEnded: 'free', whenSettled: 'free' },
  answered: { whenEnded: 'in_flight', whenSettled: 'keep_answer' },
  failed: { whenEnded: 'free', whenSettled: 'free' },
  cancelled: { whenEnded: 'free', whenSettled: 'free' },
  unknown: { whenEnded: 'free', whenSettled: 'free' },
};
