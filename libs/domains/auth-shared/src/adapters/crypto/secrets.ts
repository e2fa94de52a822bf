import { createHash, randomBytes } from 'node:crypto';
import type { Secrets } from '../../core/ports';

const SECRET_BYTES = 32;
const RECOVERY_CODE_BYTES = 10;

/** Secrets from the system's random generator: 256 bits as 43 characters of base64url. */
export const systemSecrets: Secrets = {
  random: () => randomBytes(SECRET_BYTES).toString('base64url'),
  randomCode: () =>
    randomBytes(RECOVERY_CODE_BYTES)
      .toString('hex')
      .replace(/(.{5})(?=.)/g, '$1-'),
  sha256: (text) => createHash('sha256').update(text).digest(),
};
