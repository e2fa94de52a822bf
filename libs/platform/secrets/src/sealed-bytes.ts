import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const SEALING_KEY_BYTES = 32;
const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-256-GCM and a random nonce. Only the same key and context open it.
 *
 * @param context - authenticated, not encrypted, such as the id of the row.
 * @returns the nonce, the ciphertext and the tag.
 */
export function sealBytes(key: Uint8Array, bytes: Uint8Array, context: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(context));
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Throws if the bytes were modified, or sealed with another key or context. */
export function openBytes(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** The nonce of sealed bytes, and the rest. */
export function splitSealed(sealed: Buffer): readonly [iv: Buffer, encrypted: Buffer] {
  return [sealed.subarray(0, IV_BYTES), sealed.subarray(IV_BYTES)];
}
