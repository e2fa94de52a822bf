import type { Clock } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import type { KeyGrant } from '../model';
import type { KeyVerifier } from '../ports';

const SHA256_BYTES = 32;

/** The committed grant of the key with this hash; undefined when there is none. */
export async function verifyKey(
  { keyVerifier, clock }: { keyVerifier: KeyVerifier; clock: Clock },
  sha256: Buffer,
): Promise<KeyGrant | undefined> {
  if (sha256.length !== SHA256_BYTES) {
    throw new GatewayError('invalid_request', {
      message: `key_sha256 must be ${SHA256_BYTES} bytes.`,
      param: 'key_sha256',
    });
  }
  const grant = await keyVerifier.verify(sha256);
  // An expired secret is reported as unknown, so that it does not reveal whose key it was.
  return grant?.secretEndsAt !== undefined && grant.secretEndsAt <= clock.now() ? undefined : grant;
}
