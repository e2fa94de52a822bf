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
