/**
 * Whose key a request carries. `Grant` is what the owner of keys says of one.
 *
 * Duties: a key that was revoked is never answered as valid after its
 * revocation was confirmed; the answer may come from memory, and is then the
 * same object as before; a failure to tell rejects with a GatewayError, it is
 * never answered as "unknown". May be asked before it is started, and by many
 * at once.
 */
export interface KeyDirectory<Grant extends object> {
  /** @returns undefined for a key that does not exist. */
  lookup(keySha256: Buffer): Promise<Grant | undefined>;
  start(): Promise<void> | void;
  stop(): Promise<void> | void;
}

/** A body to be checked away from the event loop. */
export interface BodyCheck<Rules> {
  /** Whose it is: owners take turns. */
  readonly owner: string;
  /** Its bytes, in order. They are given away: nobody may look at them afterwards. */
  readonly pieces: readonly Uint8Array[];
  readonly rules: Rules;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Checks large request bodies in threads.
 *
 * Duties: it answers what the same check answers on the event loop, and never
 * holds that up itself; owners take turns, so that whoever sends much delays
 * itself; what waits is bounded, for one owner and in all, beyond which it
 * rejects with the GatewayError `no_capacity`; a check that is cancelled frees
 * its place and rejects with the signal's reason; a thread that ends over a body
 * is replaced, and that body alone is refused (`request_too_large`) if it took
 * too much memory, and else rejects with the GatewayError `internal_error`.
 */
export interface BodyThreads<Rules, Checked> {
  check(body: BodyCheck<Rules>): Promise<Checked>;
  /** Rejects what is not answered yet; nothing can be checked afterwards. */
  stop(): Promise<void>;
}
