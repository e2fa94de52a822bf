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
  readonly maxInflightBodyBytes: number;
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
  maxInflightBodyBytes: 512 * MIB,
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
