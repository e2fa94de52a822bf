import { MINUTE_MS } from '@gateway/base';
import type { GatewayError } from '@gateway/errors';

export type ResponseHeaders = Record<string, string | number>;

/** One limit in its current minute. */
interface WindowState {
  readonly limit: number;
  readonly remaining: number;
  /** Until the minute ends. */
  readonly resetMs: number;
}

/** The values of the x-ratelimit-* headers; absent where no limit applies. */
export interface RateLimitState {
  readonly requests?: WindowState | undefined;
  readonly tokens?: WindowState | undefined;
}

/** SDKs use retry-after-ms only below a minute; for longer waits they use retry-after. */
const MAX_RETRY_AFTER_MS_HEADER = 59_999;

export function addRateLimitHeaders(headers: ResponseHeaders, { requests, tokens }: RateLimitState): void {
  if (requests) {
    headers['x-ratelimit-limit-requests'] = requests.limit;
    headers['x-ratelimit-remaining-requests'] = requests.remaining;
    headers['x-ratelimit-reset-requests'] = goDuration(requests.resetMs);
  }
  if (tokens) {
    headers['x-ratelimit-limit-tokens'] = tokens.limit;
    headers['x-ratelimit-remaining-tokens'] = tokens.remaining;
    headers['x-ratelimit-reset-tokens'] = goDuration(tokens.resetMs);
  }
}

/** A duration as Go prints whole seconds, rounded up: `12s`, `6m0s`, `1h0m0s`. */
export function goDuration(ms: number): string {
  const total = Math.ceil(ms / 1000);
  const seconds = total % 60;
  const minutes = Math.floor(total / 60) % 60;
  const hours = Math.floor(total / 3600);
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/** The headers by which SDKs decide whether and when to retry. */
export function addRetryHeaders(headers: ResponseHeaders, error: GatewayError): void {
  const { httpStatus, advice } = error.row;
  if (httpStatus === 401) headers['www-authenticate'] = 'Bearer';

  const waitMs = advice === 'fix' ? undefined : (error.retryAfterMs ?? error.retrySoonMs);
  if (waitMs !== undefined) {
    // Never 0: some SDKs would retry within milliseconds.
    headers['retry-after'] = Math.max(1, Math.ceil(waitMs / 1000));
    const preciseMs = error.retrySoonMs ?? waitMs;
    if (preciseMs <= MINUTE_MS) {
      headers['retry-after-ms'] = Math.max(1, Math.min(Math.ceil(preciseMs), MAX_RETRY_AFTER_MS_HEADER));
    }
  }
  if (error.retrySoonMs !== undefined) headers['x-should-retry'] = 'true';
  // SDKs retry these statuses automatically, which cannot succeed here.
  else if (advice !== 'backoff' && isRetriedBySdks(httpStatus)) headers['x-should-retry'] = 'false';
}

function isRetriedBySdks(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}
