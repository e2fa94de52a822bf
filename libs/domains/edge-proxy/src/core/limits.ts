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
    /** Of the endpoints that only read. */
    readMs: 5_000,
  },
  /** Admissions and holds travel together: what is asked for while one batch is under way is the next. */
  batches: {
    maxSize: 256,
    /** One that is being decided and one on its way: more would only make the batches smaller. */
    maxConcurrent: 2,
    maxQueued: 10_000,
  },
  /** What is released is delivered in the background, and again when its service cannot be reached. */
  releases: {
    maxBatchSize: 256,
    maxConcurrentBatches: 4,
    maxPending: 50_000,
    /** About twenty seconds in all. */
    maxAttempts: 8,
    backoff: { firstMs: 200, maxMs: 10_000 },
    /** The longest that an answer waits for what its request reserved to be released. */
    answerWaitMs: 250,
    /** For what is still to be released when the process stops. */
    stopGraceMs: 5_000,
  },
  leases: {
    slotTickMs: 500,
    claimTickMs: 1_000,
    maxRefsPerCall: 1_000,
  },
  /** Of chat completions that arrive faster than they can be begun. */
  overload: {
    /** Some twenty milliseconds of work. */
    maxPerTurn: 64,
    usualTurnMs: 40,
    maxPerLongTurn: 512,
    maxWaitMs: 5_000,
    /** Some kilobytes each. */
    maxWaiting: 10_000,
    maxWaitingOfOwner: 5_000,
  },
  floods: {
    /** Addresses, and keys, that are counted; of each kind about a megabyte. */
    maxCounted: 10_000,
    /** A key may err this many times as often as it may send. */
    timesRequestsPerMinute: 20,
    /** An invalid body counts once more for each of these bytes. */
    bytesPerCount: 64 * 1024,
  },
  keys: {
    /** Far above the length of any key; a longer one is not worth hashing. */
    maxLength: 256,
    /** Keys remembered as valid when they were last used; some ten megabytes. */
    maxRemembered: 100_000,
  },
  http: {
    headersTimeoutMs: 20_000,
    maxHeaderBytes: 32 * 1024,
    /** Beyond the body's own limit, for the server's coarser check. */
    requestTimeoutMarginMs: 30_000,
    /** How long a caller whose body was refused early has, to be read and to come to its answer. */
    maxDrainMs: 5_000,
    /** So much of the rest of such a body is read and dropped, also where whole ones may be smaller. */
    minDrainBytes: 4 * 1024 * 1024,
    /** A body that is at most this long is read to its end after a refusal, and the connection kept. */
    keptBodyBytes: 64 * 1024,
  },
  logs: {
    /** Refusals for want of capacity: a line per reason and this long, with the number of those untold. */
    refusalsEveryMs: 5_000,
  },
  bodies: {
    /** Larger ones are checked in a thread; of this size the worst takes some five milliseconds. */
    maxInlineBytes: 256 * 1024,
    /** So are those with more values, see measureJson: parsing costs by the value. */
    maxInlineValues: 4_000,
    /** Bodies of several pieces are collected in memory of this size: copied as they arrive, never as a whole. */
    pieceBytes: 1024 * 1024,
  },
  catalogue: { reconnect: { firstMs: 100, maxMs: 5_000 } },
} as const;
