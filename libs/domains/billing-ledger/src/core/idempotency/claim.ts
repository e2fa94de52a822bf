/** A request to claim an Idempotency-Key for a generation. */
export interface ClaimRequest {
  /** The claim's name: unique per API key, method, path and header value. */
  readonly scope: string;
  readonly organizationId: string;
  readonly bodySha256: Uint8Array;
  readonly generationId: string;
  readonly leaseMs: number;
}

export interface ClaimRef {
  readonly scope: string;
  readonly generationId: string;
}

/** What a replay of a completed claim needs. */
export interface StoredResponse {
  readonly responseJson: Uint8Array;
  /** The events of a resumable stream, as the router compressed them. */
  readonly responseEvents?: Uint8Array | undefined;
}

export type ClaimOutcome =
  /** The generation may run. */
  | { readonly kind: 'claimed' }
  /** Another generation runs under a lease that has not ended. */
  | { readonly kind: 'in_flight'; readonly generationId: string }
  | ({ readonly kind: 'completed'; readonly generationId: string } & StoredResponse)
  /** The key was used with another body. */
  | { readonly kind: 'body_mismatch' };
