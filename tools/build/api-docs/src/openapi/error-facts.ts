import type { ErrorCode } from '@gateway/errors';
import type { JsonObject } from '@gateway/public-api';
import { constant, count, oneOfTexts, text, time, usd } from './schema';

/** Facts of a code in addition to the error table. */
export interface ErrorFacts {
  /** The condition, as a sentence. */
  readonly when: string;
  readonly param: 'always' | 'sometimes' | 'never';
  /** Members of `metadata`; without any the object is empty. */
  readonly metadata?: Readonly<Record<string, JsonObject>>;
  /** Members that may be absent. */
  readonly optionalMetadata?: readonly string[];
}

const of = (when: string, param: ErrorFacts['param'], more: Partial<ErrorFacts> = {}): ErrorFacts => ({
  when,
  param,
  ...more,
});

const limitScope = oneOfTexts('Whether the limit of the API key or of the organization applies.', [
  'key',
  'organization',
]);

const limitScopeOrAddress = oneOfTexts(
  'Whether the limit of the API key, the organization or the client address applies.',
  ['key', 'organization', 'address'],
);

/** Documentation of every code; a test compares it with real errors. */
export const errorFacts: Readonly<Record<ErrorCode, ErrorFacts>> = {
  context_length_exceeded: of(
    "The input and the output limit together exceed the model's context window. The message contains the estimated total and the limit. Not billed.",
    'always',
    {
      metadata: {
        estimated_tokens: count('Estimated input tokens plus the output limit, in tokens.'),
        limit: count('The context window of the model, in tokens.'),
      },
    },
  ),
  image_url_not_supported: of('An image is a link instead of a base64 `data:` URI.', 'always'),
  invalid_json: of(
    'The body is empty, not UTF-8, not JSON, not a JSON object, or compressed in a way that cannot be decoded.',
    'never',
  ),
  invalid_request: of(
    'A value has the wrong type or is out of range, the model does not support a field, a header such as `Idempotency-Key` is unusable, the first request of a run has no budget, or the provider rejects the request.',
    'sometimes',
  ),
  json_mode_no_stream: of(
    'A JSON `response_format` is combined with `stream`, and the key does not allow it.',
    'always',
  ),
  json_mode_not_supported: of('The model cannot enforce a JSON `response_format`.', 'always'),
  max_tokens_exceeds_cap: of(
    "The output limit is above the organization's cap. The message contains the cap.",
    'always',
    { metadata: { limit: count("The organization's cap, in tokens.") } },
  ),
  missing_messages: of('`messages` is absent, empty or not an array.', 'always'),
  missing_model: of('`model` is absent or empty.', 'always'),
  n_not_allowed: of(
    'The request has `n` above 1, which is disabled by default and enabled by support.',
    'always',
  ),
  reasoning_effort_not_supported: of(
    'The model does not accept this `reasoning_effort`. The message lists the accepted levels.',
    'always',
    {
      metadata: {
        accepted: { type: 'array', items: { type: 'string' }, description: 'The accepted levels.' },
      },
    },
  ),
  tools_not_supported: of('The model cannot call tools.', 'always'),
  unknown_parameter: of('The body has an unknown field; `param` names the first one.', 'always'),
  vision_not_available: of('The request has an image, and the model cannot read images.', 'always'),
  invalid_api_key: of('No API key was sent, or it does not exist.', 'never'),
  ip_not_allowed: of("The client's address is not on the key's allowlist. The key stays valid.", 'never'),
  key_expired: of('The expiry date of the key has passed, in UTC.', 'never'),
  key_revoked: of('The key was revoked.', 'never'),
  insufficient_credits: of(
    'The available balance, a weekly, monthly, rolling or total budget of the key, its project or the organization, the budget of the run (`x-run-budget-usd`), or the maximum cost of the request (`x-max-cost-usd`) does not cover the request. `scope` and `limit_type` name the budget; they are absent for the balance. If only holds of running requests are in the way, the request first waits for them, and the response has `x-should-retry: true` and `retry-after`.',
    'never',
    {
      metadata: {
        available: usd('The available balance, or what is left of the budget, in US dollars.'),
        held: usd('Reserved by running requests, in addition to the available amount, in US dollars.'),
        estimated_cost: usd('The maximum cost of this request, in US dollars.'),
        currency: constant('USD', 'The currency of all amounts.'),
        max_affordable_output_tokens: count(
          'The largest `max_tokens` that the available amount covers, in tokens; 0 when none is.',
        ),
        scope: oneOfTexts('The owner of the budget; absent for the balance.', [
          'request',
          'run',
          'end_user',
          'key',
          'project',
          'organization',
        ]),
        limit_type: oneOfTexts('The kind of limit; absent for the balance.', [
          'max_cost',
          'run_budget',
          'weekly_budget',
          'window_budget',
          'monthly_budget',
          'total_budget',
        ]),
        period: oneOfTexts('The period of the budget; absent for the balance and the maximum cost.', [
          'week',
          'month',
          'window',
          'total',
        ]),
        hours: count('The length of a rolling window, in hours; absent for other periods.'),
        model: text(
          'The ID of the model, or the pattern of IDs, that the budget is for; absent for all models.',
        ),
        resets_at: time(
          'When the week or month ends, or enough has left the rolling window, unless more is spent; absent otherwise.',
        ),
        limit: usd('The limit, in US dollars; absent for the balance.'),
      },
      optionalMetadata: ['scope', 'limit_type', 'period', 'hours', 'model', 'resets_at', 'limit'],
    },
  ),
  missing_scope: of('The key lacks the scope of the endpoint. The message names it.', 'never', {
    metadata: { required_scope: oneOfTexts('The scope that the key lacks.', ['chat', 'usage:read']) },
  }),
  model_not_allowed: of(
    'The key may not use this model, or its organization allows none of the providers and regions of the model.',
    'always',
  ),
  org_suspended: of('The organization is suspended.', 'never'),
  generation_not_found: of(
    'No generation of the organization has this ID. One that has just ended is not settled yet; a refused request has none.',
    'always',
  ),
  model_not_found: of('The model does not exist or is disabled.', 'always'),
  route_not_found: of(
    'The path does not exist, or not with this method; for example, `/v1` is missing or doubled.',
    'never',
  ),
  request_timeout: of(
    'The model did not respond in time, retries included, or the request took too long to arrive.',
    'never',
  ),
  idempotency_key_in_flight: of(
    'The first request with this Idempotency-Key and API key is still running.',
    'never',
  ),
  request_too_large: of('The decompressed body or the headers are larger than the limit.', 'never', {
    metadata: { limit: count('The limit in bytes; absent when the headers are too large.') },
    optionalMetadata: ['limit'],
  }),
  idempotency_key_reused: of('The Idempotency-Key was used with a different body.', 'always'),
  daily_budget_exceeded: of(
    'The maximum cost of the request exceeds the rest of the daily budget. `retry-after` is the time until 00:00 UTC. If only holds of running requests are in the way, the request first waits for them, and the response has `x-should-retry: true` and a short `retry-after-ms`.',
    'never',
    {
      metadata: {
        limit_type: constant('daily_budget', 'The kind of limit.'),
        scope: oneOfTexts('The owner of the budget.', ['end_user', 'key', 'project', 'organization']),
        model: text(
          'The ID of the model, or the pattern of IDs, that the budget is for; absent for all models.',
        ),
        period: constant('day', 'The period of the budget.'),
        resets_at: time('When the period ends: the next 00:00 UTC.'),
        limit: usd('The daily budget, in US dollars.'),
        held: usd('The part of the budget that running requests reserve, in US dollars.'),
      },
      optionalMetadata: ['model'],
    },
  ),
  rpm_exceeded: of(
    'Too many requests in this minute; or, with `retry-after` 1, too many concurrent requests; or an abuse limit: far too many invalid requests of the key, or failed authentications from the address, in this minute.',
    'never',
    {
      metadata: {
        limit_type: oneOfTexts('Requests per minute, or concurrent requests.', ['rpm', 'concurrency']),
        scope: limitScopeOrAddress,
        limit: count('The limit: requests per minute, or concurrent requests.'),
      },
    },
  ),
  tpm_exceeded: of('Too many tokens in this minute.', 'never', {
    metadata: {
      limit_type: constant('tpm', 'The kind of limit.'),
      scope: limitScope,
      limit: count('The limit in tokens per minute.'),
    },
  }),
  internal_error: of('An error of the gateway.', 'never'),
  upstream_config_error: of('The gateway is not configured correctly for this model.', 'never'),
  upstream_error: of('The model provider failed, retries included.', 'never'),
  no_capacity: of('The model or the gateway has no capacity at the moment. Not billed.', 'never'),
};
