/** A call to a provider, complete except for its authorization. */
export interface AuthorizedCall {
  readonly url: URL;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Authorizes calls to a provider: by a key, a token or a signature. */
export interface Credential {
  /**
   * Waits for nothing but its own computation while the cached secret is valid; the secret is refreshed in the background.
   *
   * @returns the headers to add, by lower-case name.
   * @throws UpstreamFailure `misconfigured` when there is no valid secret. Its detail has the reason, never a secret.
   */
  authorize(
    call: AuthorizedCall,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Stops refreshing. */
  close(): Promise<void>;
}
