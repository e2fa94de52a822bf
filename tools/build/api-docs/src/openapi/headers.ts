import type { JsonObject } from '@gateway/public-api';
import { count, text } from './schema';

function header(description: string, schema: JsonObject, required = false): JsonObject {
  const { description: _unused, ...rest } = schema;
  return { description, ...(required ? { required } : {}), schema: rest };
}

const seconds = { ...count(''), minimum: 1 };
const goDuration = text('', { pattern: '^(\\d+h)?(\\d+m)?\\d+s$' });

/** Every response header that means something to a client. */
export const headers = {
  'x-request-id': header('Names the answer; tell it when you ask for help.', text(''), true),
  'openai-processing-ms': header(
    'How long the gateway took until the answer began, in milliseconds.',
    count(''),
  ),
  vary: header(
    'For caches: pages of some origins may read answers, so answers differ by origin.',
    text('', { const: 'origin' }),
  ),
  'x-generation-id': header('The id of the generation, once there is one.', text('', { pattern: '^gen-' })),
  'idempotent-replayed': header(
    'Says that this is the answer to an earlier request with the same Idempotency-Key.',
    text('', { const: 'true' }),
  ),
  'x-ratelimit-limit-requests': header('Requests per minute, where limited.', count('')),
  'x-ratelimit-remaining-requests': header('Requests left in this minute.', count('')),
  'x-ratelimit-reset-requests': header(
    'How long until the minute is over, in hours, minutes and seconds such as `12s`.',
    goDuration,
  ),
  'x-ratelimit-limit-tokens': header('Tokens per minute, where limited.', count('')),
  'x-ratelimit-remaining-tokens': header('Tokens left in this minute.', count('')),
  'x-ratelimit-reset-tokens': header(
    'How long until the minute is over, in hours, minutes and seconds such as `12s`.',
    goDuration,
  ),
  'retry-after': header('How many seconds to wait before trying again.', seconds),
  'retry-after-ms': header('The same in milliseconds, for waits of up to a minute.', {
    ...count(''),
    minimum: 1,
    maximum: 59_999,
  }),
  'x-should-retry': header('Tells SDKs not to retry by themselves.', text('', { const: 'false' })),
  'www-authenticate': header('How to authenticate.', text('', { const: 'Bearer' })),
} as const satisfies Readonly<Record<string, JsonObject>>;

export type HeaderName = keyof typeof headers;

export const OF_EVERY_ANSWER: readonly HeaderName[] = ['x-request-id', 'openai-processing-ms', 'vary'];

const OF_LIMITS: readonly HeaderName[] = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
];

/** Of chat completions that have come as far as the limits. */
export const OF_ADMISSION: readonly HeaderName[] = ['x-generation-id', ...OF_LIMITS];

export function headerReferences(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
