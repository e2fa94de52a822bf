import { GatewayError } from '@gateway/errors';
import type { KeyGrant } from '../model';
import type { KeyVerifier } from '../ports';

const SHA256_BYTES = 32;

/** Whose key this is, as committed now; undefined when no key has this hash. */
export async function verifyKey(
  { keyVerifier }: { keyVerifier: KeyVerifier },
  sha256: Buffer,
): Promise<KeyGrant | undefined> {
  if (sha256.length !== SHA256_BYTES) {
    throw new GatewayError('invalid_request', {
      message: `key_sha256 must be ${SHA256_BYTES} bytes.`,
      param: 'key_sha256',
    });
  }
  return keyVerifier.verify(sha256);
}
