import { type Refusal, refuse } from '@gateway/errors';

const PARAM = 'Idempotency-Key';

/** What an Idempotency-Key may be. */
export const IDEMPOTENCY_KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;

/** The header was sent twice, or is not what a key may be. */
export function unusableIdempotencyKey(): Refusal {
  return refuse('invalid_request', {
    message: 'The Idempotency-Key header must be sent once, with 1 to 255 printable ASCII characters.',
    param: PARAM,
  });
}

/** The first request with the same key has not ended yet. */
export function idempotencyKeyInFlight(): Refusal {
  return refuse('idempotency_key_in_flight');
}

/** The key came with another body before. */
export function idempotencyKeyReused(): Refusal {
  return refuse('idempotency_key_reused', { param: PARAM });
}
