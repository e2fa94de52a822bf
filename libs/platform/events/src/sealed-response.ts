import { randomBytes } from 'node:crypto';
import { StoredResponse } from '@gateway/contracts/events';
import { encodeMessage } from '@gateway/rpc';
import { openBytes, sealBytes, SEALING_KEY_BYTES } from '@gateway/secrets';

/** The claim, and the generation that completes it. */
interface ResponseOwner {
  readonly scope: string;
  readonly generationId: string;
}

/** A new key of a claim: 256 random bits. */
export function createResponseKey(): Buffer {
  return randomBytes(SEALING_KEY_BYTES);
}

export function isResponseKey(bytes: Uint8Array): boolean {
  return bytes.length === SEALING_KEY_BYTES;
}

/** `sealed_response` of generation.finished. */
export function sealResponse(key: Uint8Array, owner: ResponseOwner, response: StoredResponse): Buffer {
  return sealBytes(key, encodeMessage(StoredResponse, response), contextOf(owner));
}

/** Throws if it was sealed for another claim or generation, or with another key. */
export function openResponse(key: Uint8Array, owner: ResponseOwner, sealed: Uint8Array): StoredResponse {
  return StoredResponse.decode(openBytes(key, sealed, contextOf(owner)));
}

function contextOf({ scope, generationId }: ResponseOwner): string {
  return `${scope}\n${generationId}`;
}
