import type { Secrets } from '@gateway/auth-shared';

/** The prefix of every API key. */
const KEY_PREFIX = 'sk-gw-';

export interface KeySecret {
  /** The full key; shown once, never stored. */
  readonly secret: string;
  readonly sha256: Buffer;
  readonly last4: string;
}

export function createKeySecret(secrets: Secrets): KeySecret {
  const secret = KEY_PREFIX + secrets.random();
  return { secret, sha256: secrets.sha256(secret), last4: secret.slice(-4) };
}
