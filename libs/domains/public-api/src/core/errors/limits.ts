import { type Refusal, refuse } from '@gateway/errors';

/** What a limiter says no to. */
export interface ExceededLimit {
  readonly limitType: 'requests' | 'tokens' | 'concurrency';
  /** Whose limit it is. */
  readonly scope: 'key' | 'organization';
  /** Per minute; of `concurrency` at the same time. */
  readonly limit: number;
  readonly retryAfterMs: number;
}

/**
 * What the caller is told when a limiter says no. Some clients classify errors
 * by words in the text: it says nothing of billing or quotas where a caller
 * should simply wait.
 */
export function limitExceeded({ limitType, scope, limit, retryAfterMs }: ExceededLimit): Refusal {
  const owner = scope === 'key' ? 'API key' : 'organization';
  switch (limitType) {
    case 'tokens':
      return refuse('tpm_exceeded', {
        message: `Too many tokens: this ${owner} may use ${limit} tokens per minute. Retry when the minute is over.`,
        metadata: { limit_type: 'tpm', scope, limit },
        retryAfterMs,
      });
    case 'concurrency':
      return refuse('rpm_exceeded', {
        message: `Too many requests at once: this ${owner} may run ${limit} at the same time. Retry in a second.`,
        metadata: { limit_type: 'concurrency', scope, limit },
        retryAfterMs,
      });
    case 'requests':
      return refuse('rpm_exceeded', {
        message: `Too many requests: this ${owner} may send ${limit} requests per minute. Retry when the minute is over.`,
        metadata: { limit_type: 'rpm', scope, limit },
        retryAfterMs,
      });
  }
}

/** Too many authentications failed from the caller's address in this minute, and its key is not known here. */
export function addressFloods(limit: number, retryAfterMs: number): Refusal {
  return refuse('rpm_exceeded', {
    message: `Too many requests without a valid API key came from this address: ${limit} in this minute. Until it is over, only requests with a valid key are answered.`,
    metadata: { limit_type: 'rpm', scope: 'address', limit },
    retryAfterMs,
  });
}

/** Too many requests of the key were invalid in this minute. */
export function keyFloods(limit: number, retryAfterMs: number): Refusal {
  return refuse('rpm_exceeded', {
    message: `Too many invalid requests: ${limit} requests of this API key were refused in this minute. Mend them, and retry when the minute is over.`,
    metadata: { limit_type: 'rpm', scope: 'key', limit },
    retryAfterMs,
  });
}
