/** A request to claim an Idempotency-Key for a generation. */
export interface ClaimRequest {
  /** The claim's name: unique per API key, method, path and header value. */
  readonly scope: string;
  readonly organizationId: string;
  readonly bodySha256: Uint8Array;
  readonly generationId: string;
  readonly leaseMs: number;
  /** Encrypts the response. A claim that exists for this body keeps its own. */
  readonly responseKey: Uint8Array;
}

export interface ClaimRef {
  readonly scope: string;
  readonly generationId: string;
}

/** The response of a generation, encrypted. */
export interface EncryptedResponse {
  readonly encrypted: Uint8Array;
  /** Replaces the key of its claim; undefined for a response that was encrypted with that. */
  readonly key?: Uint8Array | undefined;
}

export type ClaimResult =
  /** The generation may run, and its response is encrypted with this key. */
  | { readonly kind: 'claimed'; readonly responseKey: Uint8Array }
  /** Another generation runs under a lease that has not ended. */
  | { readonly kind: 'in_flight'; readonly generationId: string }
  | {
      readonly kind: 'completed';
      readonly generationId: string;
      readonly response: Required<EncryptedResponse>;
    }
  /** The key was used with another body. */
  | { readonly kind: 'body_mismatch' };
