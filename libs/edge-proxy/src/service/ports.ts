import { type KeyGrant } from '@gateway/contracts/auth';

/**
 * Whose key a request carries.
 *
 * Duties: a key that was revoked is never answered as valid after its
 * revocation was confirmed; the answer may come from memory; a failure to tell
 * rejects with a GatewayError, it is never answered as "unknown".
 */
export interface KeyDirectory {
  /** @returns undefined for a key that does not exist. */
  lookup(keySha256: Buffer): Promise<KeyGrant | undefined>;
  start(): Promise<void> | void;
  stop(): Promise<void> | void;
}
