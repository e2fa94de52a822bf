import type { JsonObject } from '@gateway/public-api';
import { count, text } from './schema';

function header(description: string, schema: JsonObject, required = false): JsonObject {
  const { description: _unused, ...rest } = schema;
  return { description, ...(required ? { required } : {}), schema: rest };
}

const seconds = { ...count(''), minimum: 1 };
const goDuration = text('', { pattern: '^(\\d+h)?(\\d+m)?\\d+s$' });

/** Every response header that is of use to a client. */
export const headers = {
  'x-request-id': header('The ID of the request; quote it when you contact support.', text(''), true),
  'request-id': header('The same, by the name that the SDKs of Anthropic read.', text(''), true),
  'openai-processing-ms': header('Time until the response started, in milliseconds.', count('')),
  vary: header('For caches: CORS headers depend on the origin.', text('', { const: 'origin' })),
  'x-generation-id': header('The ID of the generation, once it exists.', text('', { pattern: '^gen-' })),
  'idempotent-replayed': header(
    'Marks the response of an earlier request with the same Idempotency-Key: stored, or a continued stream.',
    text('', { const: 'true' }),
  ),
  'x-ratelimit-limit-requests': header('Requests per minute, where limited.', count('')),
  'x-ratelimit-remaining-requests': header('Requests left in this minute.', count('')),
  'x-ratelimit-reset-requests': header(
    'Time until the minute ends, in hours, minutes and seconds such as `12s`.',
    goDuration,
  ),
  'x-ratelimit-limit-tokens': header('Tokens per minute, where limited.', count('')),
  'x-ratelimit-remaining-tokens': header('Tokens left in this minute.', count('')),
  'x-ratelimit-reset-tokens': header(
    'Time until the minute ends, in hours, minutes and seconds such as `12s`.',
    goDuration,
  ),
  'retry-after': header('Seconds to wait before a retry.', seconds),
  'retry-after-ms': header('The same in milliseconds, for less than a minute.', {
    ...count(''),
    minimum: 1,
    maximum: 59_999,
  }),
  'x-should-retry': header('Whether SDKs retry, whatever the status.', text('', { enum: ['true', 'false'] })),
  'www-authenticate': header('How to authenticate.', text('', { const: 'Bearer' })),
} as const satisfies Readonly<Record<string, JsonObject>>;

export type HeaderName = keyof typeof headers;

export const EVERY_RESPONSE: readonly HeaderName[] = ['x-request-id', 'openai-processing-ms', 'vary'];

const OF_LIMITS: readonly HeaderName[] = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
];

/** Headers of chat completions whose rate limits were checked. */
export const OF_ADMISSION: readonly HeaderName[] = ['x-generation-id', ...OF_LIMITS];

export function headerReferences(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
