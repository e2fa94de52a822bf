import type { ErrorCode } from '@gateway/errors';
import type { JsonObject } from '@gateway/public-api';
import { constant, count, oneOfTexts, usd } from './schema';

/** What a code tells beside its status and type, which are in the error table. */
export interface ErrorFacts {
  /** The condition, as a sentence. */
  readonly when: string;
  readonly param: 'always' | 'sometimes' | 'never';
  /** Members of `metadata`; the object is empty when there are none. */
  readonly metadata?: Readonly<Record<string, JsonObject>>;
  /** Those of them that are not always there. */
  readonly optionalMetadata?: readonly string[];
}

const of = (when: string, param: ErrorFacts['param'], more: Partial<ErrorFacts> = {}): ErrorFacts => ({
  when,
  param,
  ...more,
});

const limitScope = oneOfTexts("Whose limit it is: the API key's or the organization's.", [
  'key',
  'organization',
]);

const limitScopeOrAddress = oneOfTexts(
  "Whose limit it is: the API key's, the organization's, or the caller's address's.",
  ['key', 'organization', 'address'],
);

/** Every code of the error table, as the documentation tells it; a test compares the real errors with this. */
export const errorFacts: Readonly<Record<ErrorCode, ErrorFacts>> = {
  context_length_exceeded: of(
    "The input and the output limit together are longer than the model's context window. The message carries the estimated total and the limit. Not billed.",
    'always',
    {
      metadata: {
        estimated_tokens: count('Tokens of the input, as estimated, and of the output limit together.'),
        limit: count('The context window of the model, in tokens.'),
      },
    },
  ),
  image_url_not_supported: of('An image is given as a link instead of a base64 `data:` URI.', 'always'),
  invalid_json: of(
    'The body is empty, not UTF-8, not JSON, not a JSON object, or compressed in a way that cannot be decoded.',
    'never',
  ),
  invalid_request: of(
    'A value has a wrong type or is out of its range, the model does not support a field, or the model itself refuses the request.',
    'sometimes',
  ),
  json_mode_no_stream: of('A JSON `response_format` comes together with `stream`.', 'always'),
  json_mode_not_supported: of('The model cannot enforce a JSON `response_format`.', 'always'),
  max_tokens_exceeds_cap: of(
    "The output limit is above the organization's cap, which the message states.",
    'always',
    { metadata: { limit: count("The organization's cap, in tokens.") } },
  ),
  missing_messages: of('`messages` is absent, empty or not an array.', 'always'),
  missing_model: of('`model` is absent or empty.', 'always'),
  n_not_allowed: of(
    'More than one completion is asked for. It is disabled by default and enabled by support.',
    'always',
  ),
  reasoning_effort_not_supported: of(
    'The model does not accept this level of `reasoning_effort`. The message lists those that it accepts.',
    'always',
    {
      metadata: {
        accepted: { type: 'array', items: { type: 'string' }, description: 'The levels that it accepts.' },
      },
    },
  ),
  tools_not_supported: of('The model cannot call tools.', 'always'),
  unknown_parameter: of('The body has a field that is not known; `param` names the first one.', 'always'),
  vision_not_available: of('There is an image, and the model cannot read any.', 'always'),
  invalid_api_key: of('No API key was sent, or one that does not exist.', 'never'),
  ip_not_allowed: of("The caller's address is not on the key's allowlist. The key stays valid.", 'never'),
  key_expired: of('The day until which the key works is over, in UTC.', 'never'),
  key_revoked: of('The key was revoked.', 'never'),
  insufficient_credits: of(
    'The available balance does not cover the most that the request can cost.',
    'never',
    {
      metadata: {
        available: usd('What a request can use now, in US dollars.'),
        estimated_cost: usd('The most that this request can cost, in US dollars.'),
        currency: constant('USD', 'The currency of all amounts.'),
        max_affordable_output_tokens: count(
          'The largest `max_tokens` that is covered, in tokens; 0 when none is.',
        ),
      },
    },
  ),
  missing_scope: of('The key lacks the scope that the endpoint needs, which the message names.', 'never', {
    metadata: { required_scope: oneOfTexts('The scope that the key lacks.', ['chat', 'usage:read']) },
  }),
  model_not_allowed: of('The model exists, but the key may not use it.', 'always'),
  org_suspended: of('The organization is suspended.', 'never'),
  generation_not_found: of(
    'No generation of the organization has this id, or it is not settled yet.',
    'always',
  ),
  model_not_found: of('There is no such model, or it is disabled.', 'always'),
  route_not_found: of(
    'The path does not exist, or not with this method; for example, `/v1` is missing or doubled.',
    'never',
  ),
  request_timeout: of(
    'The model did not answer in time, retries included, or the request itself took too long to arrive.',
    'never',
  ),
  idempotency_key_in_flight: of(
    'The first request with this Idempotency-Key and API key has not ended yet.',
    'never',
  ),
  request_too_large: of('The body, decompressed, or the headers are larger than the limit.', 'never', {
    metadata: { limit: count('Bytes that a body may have; absent when the headers are too large.') },
    optionalMetadata: ['limit'],
  }),
  idempotency_key_reused: of('The Idempotency-Key came with another body before.', 'always'),
  daily_budget_exceeded: of(
    'The request does not fit into what is left of the daily budget. `retry-after` counts to 00:00 UTC.',
    'never',
    {
      metadata: {
        limit_type: constant('daily_budget', 'Which limit it is.'),
        scope: limitScope,
        limit: usd('The budget of a day, in US dollars.'),
      },
    },
  ),
  rpm_exceeded: of(
    'Too many requests in this minute; or, with `retry-after` 1, too many at the same time; or a flood: far too many invalid requests of the key, or failed authentications from the address, in this minute.',
    'never',
    {
      metadata: {
        limit_type: oneOfTexts('Requests per minute, or at the same time.', ['rpm', 'concurrency']),
        scope: limitScopeOrAddress,
        limit: count('How many requests are allowed: per minute, or at the same time.'),
      },
    },
  ),
  tpm_exceeded: of('Too many tokens in this minute.', 'never', {
    metadata: {
      limit_type: constant('tpm', 'Which limit it is.'),
      scope: limitScope,
      limit: count('How many tokens are allowed per minute.'),
    },
  }),
  internal_error: of('Something failed on the side of the service.', 'never'),
  upstream_config_error: of('The model is not set up correctly on the side of the service.', 'never'),
  upstream_error: of('The model provider failed, retries included.', 'never'),
  no_capacity: of('There is no capacity at the moment, at the model or at the gateway. Not billed.', 'never'),
};
