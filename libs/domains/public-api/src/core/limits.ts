const MIB = 1024 * 1024;

/** Default limits of the edge that clients can reach. */
export const defaultPublicLimits = {
  /** The size of one request body, after decompression. */
  maxBodyBytes: 32 * MIB,
  /** Per client address and UTC minute. */
  maxFailedAuthenticationsPerMinute: 6_000,
  /** Per key and UTC minute. */
  maxInvalidRequestsPerMinute: 6_000,
} as const;
