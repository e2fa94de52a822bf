/** Encrypts secrets that must be readable, so that a hash does not suffice. */
export interface SecretCipher {
  /** The prefix of text encrypted with the current key. */
  readonly currentPrefix: string;
  /** The text can be decrypted with the same context only. */
  encrypt(secret: string, context: string): string;
  /** Returns plaintext from before a key was configured as is. Throws if the text was modified or its key is missing. */
  decrypt(encrypted: string, context: string): string;
}
