import type { ErrorCode } from '@gateway/errors';
import type { KeyScope } from './access/check-key-grant';

export type EndpointName = 'chat_completions' | 'models' | 'credits' | 'generation' | 'usage';

/** A public endpoint and every error that it can answer with. */
export interface Endpoint {
  readonly name: EndpointName;
  /** HEAD works wherever GET does. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Absent when any valid key will do. */
  readonly scope?: KeyScope;
  /** In the order of checks. */
  readonly errors: readonly ErrorCode[];
}

/** Of HTTP itself, on any connection: what is not HTTP, headers that are too slow or too large. */
const OF_HTTP = ['invalid_request', 'request_timeout', 'request_too_large'] as const;

/** Of an address from which too many authentications failed, before its key is looked up. */
const OF_A_FLOOD = ['rpm_exceeded'] as const;

const OF_ANY_KEY = [
  'invalid_api_key',
  'key_revoked',
  'key_expired',
  'ip_not_allowed',
  'org_suspended',
] as const;

const OF_ANY_SERVER = ['no_capacity', 'internal_error'] as const;

/**
 * The public API. The routes, the documentation and its tests are made from
 * this table; whatever is not in it is `route_not_found`.
 */
export const endpoints: readonly Endpoint[] = [
  {
    name: 'chat_completions',
    method: 'POST',
    path: '/v1/chat/completions',
    scope: 'chat',
    errors: [
      ...OF_ANY_KEY,
      'missing_scope',
      'request_too_large',
      'request_timeout',
      'invalid_json',
      'missing_model',
      'missing_messages',
      'unknown_parameter',
      'invalid_request',
      'image_url_not_supported',
      'json_mode_no_stream',
      'n_not_allowed',
      'max_tokens_exceeds_cap',
      'model_not_found',
      'model_not_allowed',
      'tools_not_supported',
      'vision_not_available',
      'json_mode_not_supported',
      'reasoning_effort_not_supported',
      'context_length_exceeded',
      'idempotency_key_reused',
      'idempotency_key_in_flight',
      'rpm_exceeded',
      'tpm_exceeded',
      'insufficient_credits',
      'daily_budget_exceeded',
      'upstream_config_error',
      'upstream_error',
      ...OF_ANY_SERVER,
    ],
  },
  {
    name: 'models',
    method: 'GET',
    path: '/v1/models',
    errors: [...OF_HTTP, ...OF_A_FLOOD, ...OF_ANY_KEY, ...OF_ANY_SERVER],
  },
  {
    name: 'credits',
    method: 'GET',
    path: '/v1/credits',
    scope: 'usage:read',
    errors: [...OF_HTTP, ...OF_A_FLOOD, ...OF_ANY_KEY, 'missing_scope', ...OF_ANY_SERVER],
  },
  {
    name: 'generation',
    method: 'GET',
    path: '/v1/generation',
    scope: 'usage:read',
    errors: [
      ...OF_HTTP,
      ...OF_A_FLOOD,
      ...OF_ANY_KEY,
      'missing_scope',
      'generation_not_found',
      ...OF_ANY_SERVER,
    ],
  },
  {
    name: 'usage',
    method: 'GET',
    path: '/v1/usage',
    scope: 'usage:read',
    errors: [...OF_HTTP, ...OF_A_FLOOD, ...OF_ANY_KEY, 'missing_scope', ...OF_ANY_SERVER],
  },
];

/** Of GET /v1/generation's `id`, in characters; longer ones are not found. */
export const MAX_GENERATION_ID_LENGTH = 128;
