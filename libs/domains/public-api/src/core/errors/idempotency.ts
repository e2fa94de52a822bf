import { type Refusal, refuse } from '@gateway/errors';

const PARAM = 'Idempotency-Key';

/** Valid values of the Idempotency-Key header. */
export const IDEMPOTENCY_KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;

/** The header was sent more than once, or its value is invalid. */
export function invalidIdempotencyKey(): Refusal {
  return refuse('invalid_request', {
    message: 'The Idempotency-Key header must be sent once, with 1 to 255 printable ASCII characters.',
    param: PARAM,
  });
}

/** The first request with the same key is still running. */
export function idempotencyKeyInFlight(): Refusal {
  return refuse('idempotency_key_in_flight');
}

/** The key was used before with another body. */
export function idempotencyKeyReused(): Refusal {
  return refuse('idempotency_key_reused', { param: PARAM });
}
