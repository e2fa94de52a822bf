import { randomBytes } from 'node:crypto';
import { StoredResponse } from '@gateway/contracts/events';
import { encodeMessage } from '@gateway/rpc';
import { decryptBytes, encryptBytes, ENCRYPTION_KEY_BYTES } from '@gateway/secrets';

/** The claim, and the generation that completes it. */
interface ResponseOwner {
  readonly scope: string;
  readonly generationId: string;
}

/** A new key of a claim: 256 random bits. */
export function createResponseKey(): Buffer {
  return randomBytes(ENCRYPTION_KEY_BYTES);
}

export function isResponseKey(bytes: Uint8Array): boolean {
  return bytes.length === ENCRYPTION_KEY_BYTES;
}

/** `encrypted_response` of generation.finished. */
export function encryptResponse(key: Uint8Array, owner: ResponseOwner, response: StoredResponse): Buffer {
  return encryptBytes(key, encodeMessage(StoredResponse, response), contextOf(owner));
}

/** Throws if it was encrypted for another claim or generation, or with another key. */
export function decryptResponse(
  key: Uint8Array,
  owner: ResponseOwner,
  encrypted: Uint8Array,
): StoredResponse {
  return StoredResponse.decode(decryptBytes(key, encrypted, contextOf(owner)));
}

function contextOf({ scope, generationId }: ResponseOwner): string {
  return `${scope}\n${generationId}`;
}
