import { type Refusal, refuse } from '@gateway/errors';

/** A limit that refused a request. */
export interface ExceededLimit {
  readonly limitType: 'requests' | 'tokens' | 'concurrency';
  /** The owner of the limit. */
  readonly scope: 'key' | 'organization';
  /** Per minute; for `concurrency`, requests at the same time. */
  readonly limit: number;
  readonly retryAfterMs: number;
}

/**
 * The error of an exceeded limit. Some clients classify errors by words in the
 * text, so it does not mention billing or quotas where the client should just
 * wait.
 */
export function limitExceeded({ limitType, scope, limit, retryAfterMs }: ExceededLimit): Refusal {
  const owner = scope === 'key' ? 'API key' : 'organization';
  switch (limitType) {
    case 'tokens':
      return refuse('tpm_exceeded', {
        message: `Too many tokens: this ${owner} may use ${limit} tokens per minute. Retry after the minute ends.`,
        metadata: { limit_type: 'tpm', scope, limit },
        retryAfterMs,
      });
    case 'concurrency':
      return refuse('rpm_exceeded', {
        message: `Too many concurrent requests: this ${owner} may run ${limit} at the same time. Retry in a second.`,
        metadata: { limit_type: 'concurrency', scope, limit },
        retryAfterMs,
      });
    case 'requests':
      return refuse('rpm_exceeded', {
        message: `Too many requests: this ${owner} may send ${limit} requests per minute. Retry after the minute ends.`,
        metadata: { limit_type: 'rpm', scope, limit },
        retryAfterMs,
      });
  }
}

/** Too many authentications failed from the client's address in this minute, and its key is not known to be valid. */
export function addressAbuseLimited(limit: number, retryAfterMs: number): Refusal {
  return refuse('rpm_exceeded', {
    message: `Too many requests without a valid API key from this address: ${limit} in this minute. Until the minute ends, only requests with a valid key are accepted.`,
    metadata: { limit_type: 'rpm', scope: 'address', limit },
    retryAfterMs,
  });
}

/** Too many requests of the key were suspicious in this minute. */
export function keySuspicionLimited(limit: number, retryAfterMs: number): Refusal {
  return refuse('rpm_exceeded', {
    message: `Too many cancelled requests: ${limit} requests with this API key were cancelled before their response, or had far more input than can be counted, in this minute. Retry after the minute ends.`,
    metadata: { limit_type: 'rpm', scope: 'key', limit },
    retryAfterMs,
  });
}

/** Too many requests of the key were invalid in this minute. */
export function keyAbuseLimited(limit: number, retryAfterMs: number): Refusal {
  return refuse('rpm_exceeded', {
    message: `Too many invalid requests: ${limit} requests with this API key were refused in this minute. Fix them and retry after the minute ends.`,
    metadata: { limit_type: 'rpm', scope: 'key', limit },
    retryAfterMs,
  });
}
