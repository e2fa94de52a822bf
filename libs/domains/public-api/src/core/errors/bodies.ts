import { type Refusal, refuse } from '@gateway/errors';

export function bodyTooLarge(maxBytes: number): Refusal {
  return refuse('request_too_large', {
    message: `The request body is larger than the limit of ${maxBytes} bytes.`,
    metadata: { limit: maxBytes },
  });
}

/** A small heap would be needed for a body of its size, yet this one takes more. */
export function bodyTakesTooMuchMemory(): Refusal {
  return refuse('request_too_large', { message: 'The request body takes too much memory to be checked.' });
}

export function bodyTooSlow(): Refusal {
  return refuse('request_timeout', { message: 'The request body did not arrive in time.' });
}

/** Its content-encoding is unknown or broken. */
export function bodyUndecodable(): Refusal {
  return refuse('invalid_json', {
    message: 'The request body cannot be decoded. Send it plain, or compressed with gzip, deflate or br.',
  });
}
