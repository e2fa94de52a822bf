import type { Secrets } from '@gateway/auth-shared';

/** Secrets of one sign-in, derived from the token in the browser's cookie. */
export interface BrowserSecrets {
  /** The only one that is stored. */
  readonly browserSha256: Buffer;
  /** The nonce that the ID token must contain. */
  readonly nonce: string;
  /** The PKCE code verifier. */
  readonly codeVerifier: string;
}

/**
 * Neither nonce nor verifier can be derived from the database: both are hashes
 * of a token of 256 random bits that only the browser stores.
 */
export function browserSecretsOf({ sha256 }: Secrets, browserToken: string): BrowserSecrets {
  return {
    browserSha256: sha256(`browser ${browserToken}`),
    nonce: sha256(`nonce ${browserToken}`).toString('base64url'),
    codeVerifier: sha256(`code verifier ${browserToken}`).toString('base64url'),
  };
}
