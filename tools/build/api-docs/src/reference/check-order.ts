import type { ErrorCode } from '@gateway/errors';

export interface CheckStep {
  readonly checks: string;
  /** In the order of the checks within the step. */
  readonly codes: readonly ErrorCode[];
}

/**
 * Every check of a chat completion in the order in which the gateway makes them. Tests compare it with the
 * validator and with the codes of the endpoint.
 */
export const chatCheckOrder: readonly CheckStep[] = [
  {
    checks: 'HTTP itself: a malformed request, headers that are too large or arrive too slowly',
    codes: ['invalid_request', 'request_too_large', 'request_timeout'],
  },
  { checks: 'The path and the method', codes: ['route_not_found'] },
  {
    checks: 'The abuse limit of the address, for keys that this process has not accepted before',
    codes: ['rpm_exceeded'],
  },
  { checks: 'The API key', codes: ['invalid_api_key', 'key_revoked', 'key_expired', 'ip_not_allowed'] },
  { checks: 'The organization, then the scope of the key', codes: ['org_suspended', 'missing_scope'] },
  { checks: 'The abuse limit of the key', codes: ['rpm_exceeded'] },
  { checks: 'Overload: too many requests are queued at this process', codes: ['no_capacity'] },
  {
    checks: 'Reading the body: its size, the time it takes, memory for it, its encoding',
    codes: ['request_too_large', 'request_timeout', 'no_capacity', 'invalid_json'],
  },
  { checks: 'The number of values and the depth of the JSON', codes: ['invalid_request'] },
  { checks: 'JSON, and a JSON object', codes: ['invalid_json'] },
  { checks: 'Presence of `model` and `messages`', codes: ['missing_model', 'missing_messages'] },
  { checks: 'Unknown parameters, the first by name', codes: ['unknown_parameter'] },
  { checks: 'Types and ranges of fields, the first field that is wrong', codes: ['invalid_request'] },
  { checks: 'Images are inline', codes: ['image_url_not_supported'] },
  {
    checks: 'A JSON `response_format` without `stream`, or a key that allows both',
    codes: ['json_mode_no_stream'],
  },
  { checks: "The organization's settings", codes: ['n_not_allowed', 'max_tokens_exceeds_cap'] },
  {
    checks: 'The model exists, and the key and its organization may use it',
    codes: ['model_not_found', 'model_not_allowed'],
  },
  {
    checks: 'Capabilities of the model',
    codes: [
      'tools_not_supported',
      'vision_not_available',
      'json_mode_not_supported',
      'reasoning_effort_not_supported',
    ],
  },
  {
    checks: 'Fields that the model does not support: `logprobs`, `top_logprobs`, `logit_bias`',
    codes: ['invalid_request'],
  },
  {
    checks: 'The estimated input and the output limit fit the context window',
    codes: ['context_length_exceeded'],
  },
  {
    checks:
      'Usable headers: `Idempotency-Key`, `Last-Event-ID`, then `x-max-cost-usd`, `x-run-budget-usd` and `x-run-id`',
    codes: ['invalid_request'],
  },
  {
    checks: 'The idempotency claim: another body, else the replay, else in flight',
    codes: ['idempotency_key_reused', 'idempotency_key_in_flight'],
  },
  {
    checks:
      'Requests per minute, tokens per minute, concurrent requests (`rpm_exceeded` with `retry-after: 1`)',
    codes: ['rpm_exceeded', 'tpm_exceeded'],
  },
  { checks: 'The maximum cost of the request (`x-max-cost-usd`)', codes: ['insufficient_credits'] },
  { checks: 'The first request of a run sends its budget', codes: ['invalid_request'] },
  {
    checks:
      'The balance, the budget of the run, then the monthly and total budgets of the end user, the key, its project and the organization, then those of weeks and rolling windows',
    codes: ['insufficient_credits'],
  },
  {
    checks: 'The daily budgets of the end user, the key, its project and the organization',
    codes: ['daily_budget_exceeded'],
  },
  {
    checks: 'The generation at the provider',
    codes: [
      'upstream_config_error',
      'invalid_request',
      'upstream_error',
      'request_timeout',
      'no_capacity',
      'internal_error',
    ],
  },
];
