import { defaultPublicLimits } from '@gateway/public-api';

/** What an operator may set of the edge. Sizes in bytes, times in milliseconds. */
export interface EdgeProxySettings {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Origins whose pages may read answers; "*" for all, none: CORS is off. */
  readonly corsOrigins: readonly string[];
  /** Whether pages of this origin are the dashboard's; asked request by request. Absent: none are. */
  readonly isDashboardOrigin?: (origin: string) => boolean;
  /** Of one request body, after decompression. */
  readonly maxBodyBytes: number;
  /** Of the bodies of all requests that are being answered; beyond it there is no capacity. */
  readonly maxBodyBytesOfAll: number;
  /**
   * Failed authentications per client address and minute, after which the
   * address is served with valid keys only; 0: no limit. Per edge.
   */
  readonly maxFailedAuthenticationsPerMinute: number;
  /**
   * Invalid requests per key and minute, after which the key's chat completions
   * are refused unread; 20 times the key's requests per minute when that is
   * more; 0: no limit. Per edge.
   */
  readonly maxInvalidRequestsPerMinute: number;
  /** A body that takes longer to arrive is refused. */
  readonly bodyTimeoutMs: number;
  /** The router's total timeout of one generation, retries included. */
  readonly generationTimeoutMs: number;
  /** What the call to the router has beyond that, so that the router's own error arrives. */
  readonly generationMarginMs: number;
  /** How long a hold outlives that call before it is voided. */
  readonly holdMarginMs: number;
  /** How long a claimed Idempotency-Key stays blocked when this edge dies; renewed while it lives. */
  readonly claimLeaseMs: number;
  /** Silence in a stream after which a keep-alive comment is written. */
  readonly keepAliveCommentMs: number;
  /** A reader that takes nothing for this long after the end of its answer is disconnected. */
  readonly stalledReaderMs: number;
  /** How long an idle connection is kept open. */
  readonly idleConnectionMs: number;
  /** How long the start waits for the first model catalogue. */
  readonly catalogueWaitMs: number;
  /** How long running requests may take to finish when the process stops. */
  readonly stopGraceMs: number;
}

const MIB = 1024 * 1024;

export const defaultEdgeProxySettings: EdgeProxySettings = {
  host: '0.0.0.0',
  port: 8080,
  trustedProxies: [],
  corsOrigins: [],
  ...defaultPublicLimits,
  maxBodyBytesOfAll: 512 * MIB,
  bodyTimeoutMs: 60_000,
  generationTimeoutMs: 600_000,
  generationMarginMs: 15_000,
  holdMarginMs: 60_000,
  claimLeaseMs: 60_000,
  keepAliveCommentMs: 15_000,
  stalledReaderMs: 60_000,
  idleConnectionMs: 75_000,
  catalogueWaitMs: 5_000,
  stopGraceMs: 30_000,
};

/**
 * What no operator sets: bounds that follow from how the edge works, and how
 * long it waits for whom. Here so that whoever asks "how long, how many?" finds
 * one page.
 */
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
