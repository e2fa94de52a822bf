import type { Secrets } from '@gateway/auth-shared';

/** What of one sign-in is worked out from the token that the browser keeps. */
export interface BrowserSecrets {
  /** The only one of them that is stored. */
  readonly browserSha256: Buffer;
  /** What the provider has to put into its statement about the person. */
  readonly nonce: string;
  /** Of PKCE: without it the provider's code is of no use. */
  readonly codeVerifier: string;
}

/**
 * Whoever reads our tables learns neither nonce nor verifier: both are hashes
 * of a token of 256 random bits that the browser alone keeps.
 */
export function browserSecretsOf({ sha256 }: Secrets, browserToken: string): BrowserSecrets {
  return {
    browserSha256: sha256(`browser ${browserToken}`),
    nonce: sha256(`nonce ${browserToken}`).toString('base64url'),
    codeVerifier: sha256(`code verifier ${browserToken}`).toString('base64url'),
  };
}
