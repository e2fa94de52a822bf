import { createHash, randomBytes } from 'node:crypto';
import type { Secrets } from '../../core/ports';

const SECRET_BYTES = 32;

/** 256 bits of the system's randomness as 43 characters of base64url. */
export const systemSecrets: Secrets = {
  random: () => randomBytes(SECRET_BYTES).toString('base64url'),
  sha256: (text) => createHash('sha256').update(text).digest(),
};
