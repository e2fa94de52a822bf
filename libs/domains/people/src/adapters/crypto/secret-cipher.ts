import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { SecretCipher } from '../../core/ports';

const FORM = 'sealed1';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_NAME_CHARACTERS = 8;

/** 256 random bits as base64, which is how a key is written. */
export function createEncryptionKey(): string {
  return randomBytes(KEY_BYTES).toString('base64');
}

/**
 * AES-256-GCM with a random nonce; what a secret is of is authenticated with
 * it, so that it cannot be moved to another row. The name of the key travels
 * along, so that keys can be changed: the first one seals, all open.
 *
 * @param keys - as `createEncryptionKey` writes them; at least one.
 */
export function createSecretCipher(keys: readonly string[]): SecretCipher {
  const known = new Map(
    keys.map((text) => {
      const key = Buffer.from(text, 'base64');
      if (key.length !== KEY_BYTES) throw new Error('a sealing key has not 256 bits');
      return [nameOf(key), key] as const;
    }),
  );
  const [first] = known;
  if (!first) throw new Error('there is no sealing key');
  const [currentName, currentKey] = first;

  return {
    currentPrefix: `${FORM}.${currentName}.`,

    seal(secret, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', currentKey, iv).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return [FORM, currentName, iv.toString('base64url'), sealed.toString('base64url')].join('.');
    },

    open(text, context) {
      const [form, name = '', iv = '', sealed = ''] = text.split('.');
      // From before there were keys.
      if (form !== FORM) return text;
      const key = known.get(name);
      if (!key) throw new Error(`a secret is sealed with the key ${name}, which is not configured`);
      const bytes = Buffer.from(sealed, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
      const secret = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
      return secret.toString('utf8');
    },
  };
}

/** Says which key it is, and nothing about it. */
function nameOf(key: Buffer): string {
  return createHash('sha256').update('sealing key').update(key).digest('hex').slice(0, KEY_NAME_CHARACTERS);
}
