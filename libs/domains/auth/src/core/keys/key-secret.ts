import type { Secrets } from '@gateway/auth-shared';

/** What every key begins with. */
const KEY_PREFIX = 'sk-gw-';

export interface KeySecret {
  /** The full key; shown once, stored nowhere. */
  readonly secret: string;
  readonly sha256: Buffer;
  readonly last4: string;
}

export function makeKeySecret(secrets: Secrets): KeySecret {
  const secret = KEY_PREFIX + secrets.random();
  return { secret, sha256: secrets.sha256(secret), last4: secret.slice(-4) };
}
