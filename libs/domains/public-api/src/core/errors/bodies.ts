import { type Refusal, refuse } from '@gateway/errors';

export function bodyTooLarge(maxBytes: number): Refusal {
  return refuse('request_too_large', {
    message: `The request body is larger than the limit of ${maxBytes} bytes.`,
    metadata: { limit: maxBytes },
  });
}

/** The validation thread ran out of memory. */
export function bodyExceedsMemory(): Refusal {
  return refuse('request_too_large', { message: 'The request body needs too much memory to validate.' });
}

export function bodyTooSlow(): Refusal {
  return refuse('request_timeout', { message: 'The request body did not arrive in time.' });
}

/** The content-encoding is unknown or the data is corrupt. */
export function bodyUndecodable(): Refusal {
  return refuse('invalid_json', {
    message:
      'The request body cannot be decoded. Send it uncompressed, or compressed with gzip, deflate or br.',
  });
}
