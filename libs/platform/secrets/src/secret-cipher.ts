import { createHash, randomBytes } from 'node:crypto';
import type { SecretCipher } from '@gateway/base';
import { decryptBytes, encryptBytes, ENCRYPTION_KEY_BYTES, splitEncrypted } from './encrypted-bytes';

const FORMAT = 'enc1';
const KEY_ID_CHARACTERS = 8;

/** A new key: 256 random bits as base64. */
export function createEncryptionKey(): string {
  return randomBytes(ENCRYPTION_KEY_BYTES).toString('base64');
}

/**
 * AES-256-GCM with a random nonce. The context, such as a member id, is
 * authenticated data, so a secret cannot be moved to another row. The encrypted
 * text names its key, so keys can be rotated: the first key encrypts, all decrypt.
 *
 * @param keys - from `createEncryptionKey`; at least one.
 */
export function createSecretCipher(keys: readonly string[]): SecretCipher {
  const keysById = new Map(
    keys.map((text) => {
      const key = Buffer.from(text, 'base64');
      if (key.length !== ENCRYPTION_KEY_BYTES) throw new Error('an encryption key does not have 256 bits');
      return [keyIdOf(key), key] as const;
    }),
  );
  const [first] = keysById;
  if (!first) throw new Error('no encryption key is configured');
  const [currentKeyId, currentKey] = first;

  return {
    currentPrefix: `${FORMAT}.${currentKeyId}.`,

    encrypt(secret, context) {
      const [iv, encrypted] = splitEncrypted(encryptBytes(currentKey, Buffer.from(secret), context));
      return [FORMAT, currentKeyId, iv.toString('base64url'), encrypted.toString('base64url')].join('.');
    },

    decrypt(text, context) {
      const [format, keyId = '', iv = '', encrypted = ''] = text.split('.');
      // Otherwise a write to the database could replace a secret, or a key, by a known one.
      if (format !== FORMAT) throw new Error('a secret is not encrypted');
      const key = keysById.get(keyId);
      if (!key) throw new Error(`a secret is encrypted with the key ${keyId}, which is not configured`);
      const bytes = Buffer.concat([iv, encrypted].map((part) => Buffer.from(part, 'base64url')));
      return decryptBytes(key, bytes, context).toString('utf8');
    },
  };
}

/** Identifies the key without revealing anything about it. */
function keyIdOf(key: Buffer): string {
  return createHash('sha256').update('encryption key').update(key).digest('hex').slice(0, KEY_ID_CHARACTERS);
}
