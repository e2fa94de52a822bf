import type { TlsFiles } from '@gateway/http-server';
import { defaultPublicLimits, type InferenceApi } from '@gateway/public-api';

/** Settings of the edge. Sizes in bytes, times in milliseconds. */
export interface EdgeProxySettings {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** HTTPS without a proxy. Absent: HTTP. */
  readonly tls?: TlsFiles | undefined;
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Origins whose pages may read responses; "*" for all. Empty: CORS is off. */
  readonly corsOrigins: readonly string[];
  /** Whether the origin is the dashboard's; called for each request. Absent: never. */
  readonly isDashboardOrigin?: (origin: string) => boolean;
  /** The inference endpoints that it serves. */
  readonly endpoints: readonly InferenceApi[];
  /** Whether hosted tools are removed from requests instead of refused. */
  readonly dropsHostedTools: boolean;
  /** The size of one request body, after decompression. */
  readonly maxBodyBytes: number;
  /** Total of the bodies of all requests in flight; beyond it, requests get `no_capacity`. */
  readonly maxInflightBodyBytes: number;
  /**
   * Failed authentications per client address and minute. After that, the address
   * is served with known valid keys only. 0 means no limit. Per edge.
   */
  readonly maxFailedAuthenticationsPerMinute: number;
  /**
   * Invalid requests per key and minute, or 20 times the key's requests per minute
   * when that is more. After that, the key's chat completions are refused unread.
   * 0 means no limit. Per edge.
   */
  readonly maxInvalidRequestsPerMinute: number;
  /** A body that takes longer to arrive is refused. */
  readonly bodyTimeoutMs: number;
  /** The router's total timeout of one generation, retries included. */
  readonly generationTimeoutMs: number;
  /** Added for the call to the router, so that the router's own timeout error arrives. */
  readonly generationMarginMs: number;
  /** How long a hold outlives that call before it is voided. */
  readonly holdMarginMs: number;
  /** How long a request waits when only open holds of other requests prevent its hold. 0: it does not. */
  readonly holdWaitMs: number;
  /** Output tokens of the first hold, and of each extension, of a stream with an elastic hold. */
  readonly elasticHoldTokens: number;
  /** How long a claimed Idempotency-Key stays blocked after this edge crashes; renewed while it runs. */
  readonly claimLeaseMs: number;
  /** Idle time of a stream after which a keep-alive comment is written. */
  readonly keepAliveCommentMs: number;
  /** The same before the first event, when the status is sent with the comment. */
  readonly firstCommentMs: number;
  /** A client that reads nothing for this long after the end of its response is disconnected. */
  readonly stalledReaderMs: number;
  /** How long an idle connection is kept open. */
  readonly idleConnectionMs: number;
  /** How often refused requests are reported. */
  readonly refusalReportIntervalMs: number;
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
  endpoints: ['chat'],
  dropsHostedTools: false,
  ...defaultPublicLimits,
  maxInflightBodyBytes: 512 * MIB,
  bodyTimeoutMs: 60_000,
  generationTimeoutMs: 600_000,
  generationMarginMs: 15_000,
  holdMarginMs: 60_000,
  holdWaitMs: 2_000,
  elasticHoldTokens: 1_024,
  claimLeaseMs: 60_000,
  keepAliveCommentMs: 15_000,
  firstCommentMs: 45_000,
  stalledReaderMs: 60_000,
  idleConnectionMs: 75_000,
  refusalReportIntervalMs: 5_000,
  catalogueWaitMs: 5_000,
  stopGraceMs: 30_000,
};
