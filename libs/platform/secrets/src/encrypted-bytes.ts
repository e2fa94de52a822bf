import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const ENCRYPTION_KEY_BYTES = 32;
const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-256-GCM and a random nonce. Only the same key and context decrypt it.
 *
 * @param context - authenticated, not encrypted, such as the id of the row.
 * @returns the nonce, the ciphertext and the tag.
 */
export function encryptBytes(key: Uint8Array, bytes: Uint8Array, context: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(context));
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Throws if the bytes were modified, or encrypted with another key or context. */
export function decryptBytes(key: Uint8Array, encrypted: Uint8Array, context: string): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, encrypted.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context)).setAuthTag(encrypted.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(encrypted.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** The nonce of encrypted bytes, and the rest. */
export function splitEncrypted(encrypted: Buffer): readonly [iv: Buffer, rest: Buffer] {
  return [encrypted.subarray(0, IV_BYTES), encrypted.subarray(IV_BYTES)];
}
