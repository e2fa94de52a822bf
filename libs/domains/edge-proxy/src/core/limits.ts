/** Bounds and timeouts that are not settings, all on one page. */
export const limits = {
  /** Calls to other services, each with its deadline. */
  calls: {
    admitMs: 2_000,
    finishAdmissionMs: 5_000,
    renewSlotsMs: 2_000,
    holdMs: 5_000,
    voidHoldMs: 5_000,
    claimMs: 5_000,
    /** For read-only endpoints. */
    readMs: 5_000,
    reportRefusalsMs: 5_000,
  },
  /** Admissions and holds are sent in batches: requests that arrive while a batch is in flight form the next one. */
  batches: {
    maxSize: 256,
    /** One batch being decided and one in transit. More would only make the batches smaller. */
    maxConcurrent: 2,
    maxQueued: 10_000,
  },
  /** Releases are delivered in the background and retried while their service is unreachable. */
  releases: {
    maxBatchSize: 256,
    maxConcurrentBatches: 4,
    maxPending: 50_000,
    /** About 20 s in total. */
    maxAttempts: 8,
    backoff: { firstMs: 200, maxMs: 10_000 },
    /** The longest that a response waits for the releases of its request. */
    maxResponseDelayMs: 250,
    /** For pending releases when the process stops. */
    stopGraceMs: 5_000,
    /** How long the hold of a request that was cancelled at the router waits for its settlement. */
    settlementGraceMs: 2_000,
  },
  /** Keys and organizations whose limits refused requests lately. */
  recentRefusals: { maxOwners: 10_000 },
  /** Requests that wait for open holds to be settled. */
  holdWaits: {
    /** Further requests of the organization are refused at once, so that one cannot occupy the edge by waiting. */
    maxPerOrganization: 16,
    backoff: { firstMs: 100, maxMs: 500 },
  },
  /** Holds that cover a slice of the output. */
  elasticHolds: {
    /** Refused ones are repeated with what is left. */
    maxAttempts: 3,
    /** Paying for the input is not worth less output than this. */
    minOutputTokens: 16,
  },
  leases: {
    slotTickMs: 500,
    claimTickMs: 1_000,
    maxRefsPerCall: 1_000,
  },
  /** Chat completions that arrive faster than they can start. */
  overload: {
    /** About 20 ms of work. */
    maxPerTurn: 64,
    usualTurnMs: 40,
    maxPerLongTurn: 512,
    maxWaitMs: 5_000,
    /** A few kilobytes each. */
    maxQueued: 10_000,
    maxQueuedPerOwner: 5_000,
  },
  abuse: {
    /** Counted addresses, and counted keys; about 1 MB of memory for each kind. */
    maxCounted: 10_000,
    /** A key may send this many invalid requests per allowed request. */
    timesRequestsPerMinute: 20,
    /** The share of a key's allowed requests that may be suspicious. */
    suspiciousShareOfRequests: 0.5,
    /** An invalid body counts once more for each block of this size. */
    bytesPerCount: 64 * 1024,
  },
  /** Refused requests that are counted between two reports. */
  refusals: {
    /** Different counts: organizations, keys, models of the catalogue and error codes. */
    maxCounts: 5_000,
    /** The latest refusals that are kept of an organization and error code. */
    maxLatest: 20,
    /** About 1 MB. */
    maxLatestTotal: 2_000,
    maxModelLength: 128,
    maxMessageLength: 300,
  },
  keys: {
    /** Far above the length of any key. Longer values are rejected without hashing. */
    maxLength: 256,
    /** Keys that were valid when last used; about 10 MB. */
    maxCached: 100_000,
  },
  http: {
    headersTimeoutMs: 20_000,
    maxHeaderBytes: 32 * 1024,
    /** Added to the body timeout for the server's own, coarser check. */
    requestTimeoutMarginMs: 30_000,
    /** How long a client whose body was refused early may continue to send before the connection closes. */
    maxDrainMs: 5_000,
    /** At least this much of a refused body is read and discarded, even where `maxBodyBytes` is smaller. */
    minDrainBytes: 4 * 1024 * 1024,
    /** After a refusal, a body of at most this size is read completely, so that the connection can be reused. */
    maxReusableBodyBytes: 64 * 1024,
  },
  logs: {
    /** `no_capacity` refusals: one line per reason and interval, with the number of suppressed lines. */
    refusalIntervalMs: 5_000,
  },
  bodies: {
    /** Larger bodies are validated in a thread. The worst body of this size takes about 5 ms. */
    maxInlineBytes: 256 * 1024,
    /** So are bodies with more JSON values (see measureJson), since parsing time depends on their number. */
    maxInlineValues: 4_000,
    /** Bodies that arrive in parts are copied into chunks of this size as they arrive, never as a whole. */
    chunkBytes: 1024 * 1024,
  },
  catalogue: { reconnect: { firstMs: 100, maxMs: 5_000 } },
} as const;
