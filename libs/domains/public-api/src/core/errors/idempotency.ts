import { type Refusal, refuse } from '@gateway/errors';

const PARAM = 'Idempotency-Key';
const LAST_EVENT_ID = 'Last-Event-ID';

/** Valid values of the Idempotency-Key header. */
export const IDEMPOTENCY_KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;

/** Valid values of the Last-Event-ID header. */
export const LAST_EVENT_ID_PATTERN = /^[0-9]{1,9}$/;

/** The header was sent more than once, or its value is invalid. */
export function invalidIdempotencyKey(): Refusal {
  return refuse('invalid_request', {
    message: 'The Idempotency-Key header must be sent once, with 1 to 255 printable ASCII characters.',
    param: PARAM,
  });
}

/** The header is invalid, or the request has no stream that could be continued. */
export function invalidLastEventId(): Refusal {
  return refuse('invalid_request', {
    message:
      'The Last-Event-ID header must be sent once, with a whole number of at most nine digits, in a streaming request with an Idempotency-Key.',
    param: LAST_EVENT_ID,
  });
}

/** No stored or running stream of the key has events with ids. */
export function streamNotResumable(): Refusal {
  return refuse('invalid_request', {
    message:
      'There is no stream of this Idempotency-Key that can be continued. Send `Last-Event-ID: 0` to start at its beginning.',
    param: LAST_EVENT_ID,
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
