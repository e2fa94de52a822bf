/** How the request of an Idempotency-Key ended, as edge or router report it. */
export type IdempotentEnding =
  /** No generation ran, as the edge reports it: refused, or failed before the provider's first event. */
  | 'refused'
  /** The generation completed, so there is a response. */
  | 'completed'
  /** The generation failed. */
  | 'failed'
  /** The generation was cancelled: its deadline passed, or the client disconnected. */
  | 'cancelled'
  /** The connection to the router was lost: a settlement may or may not follow. */
  | 'unknown';

export interface EndingRule {
  /**
   * The state of the key once the edge reports that its request has ended.
   * - `free`: the next request with the key runs, whatever its body.
   * - `in_flight`: the next request has to wait for the settlement.
   */
  readonly whenReported: 'free' | 'in_flight';
  /**
   * The state of the key once the generation is settled.
   * - `store_response`: the next request with the key and the same body gets the stored response.
   * - `free`: as above.
   */
  readonly whenSettled: 'free' | 'store_response';
}

/**
 * What each ending does with the Idempotency-Key. Edge and router only
 * report the ending; this table decides.
 *
 * A process that terminates reports nothing. The key then stays in flight until
 * the claim's lease ends, after which a request with the same body may run. A
 * later settlement still follows the table.
 *
 * Only the generation that holds the claim frees its key; after a takeover that
 * is the newer one. The first response is stored whichever generation holds the
 * claim, and no other generation under the key is charged after it (see BatchClaims).
 */
export const ENDING_RULES: Readonly<Record<IdempotentEnding, EndingRule>> = {
  refused: { whenReported: 'free', whenSettled: 'free' },
  completed: { whenReported: 'in_flight', whenSettled: 'store_response' },
  failed: { whenReported: 'free', whenSettled: 'free' },
  cancelled: { whenReported: 'free', whenSettled: 'free' },
  unknown: { whenReported: 'free', whenSettled: 'free' },
};
