import type { ErrorCode } from '@gateway/errors';
import type { KeyScope } from './access/check-key-grant';

export type EndpointName = 'chat_completions' | 'models' | 'credits' | 'generation' | 'usage';

/** A public endpoint and every error that it can return. */
export interface Endpoint {
  readonly name: EndpointName;
  /** GET implies HEAD. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Absent when any valid key is enough. */
  readonly scope?: KeyScope;
  /** In the order of checks. */
  readonly errors: readonly ErrorCode[];
}

/** Errors of HTTP itself: malformed requests, headers that are too slow or too large. */
const HTTP_ERRORS = ['invalid_request', 'request_timeout', 'request_too_large'] as const;

/** The abuse limit of an address, which is checked before its key is looked up. */
const ABUSE_LIMIT_ERRORS = ['rpm_exceeded'] as const;

const KEY_ERRORS = [
  'invalid_api_key',
  'key_revoked',
  'key_expired',
  'ip_not_allowed',
  'org_suspended',
] as const;

const SERVER_ERRORS = ['no_capacity', 'internal_error'] as const;

/**
 * The public API. The routes, the documentation and its tests are generated from
 * this table; all other paths are `route_not_found`.
 */
export const endpoints: readonly Endpoint[] = [
  {
    name: 'chat_completions',
    method: 'POST',
    path: '/v1/chat/completions',
    scope: 'chat',
    errors: [
      ...KEY_ERRORS,
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
      ...SERVER_ERRORS,
    ],
  },
  {
    name: 'models',
    method: 'GET',
    path: '/v1/models',
    errors: [...HTTP_ERRORS, ...ABUSE_LIMIT_ERRORS, ...KEY_ERRORS, ...SERVER_ERRORS],
  },
  {
    name: 'credits',
    method: 'GET',
    path: '/v1/credits',
    scope: 'usage:read',
    errors: [...HTTP_ERRORS, ...ABUSE_LIMIT_ERRORS, ...KEY_ERRORS, 'missing_scope', ...SERVER_ERRORS],
  },
  {
    name: 'generation',
    method: 'GET',
    path: '/v1/generation',
    scope: 'usage:read',
    errors: [
      ...HTTP_ERRORS,
      ...ABUSE_LIMIT_ERRORS,
      ...KEY_ERRORS,
      'missing_scope',
      'generation_not_found',
      ...SERVER_ERRORS,
    ],
  },
  {
    name: 'usage',
    method: 'GET',
    path: '/v1/usage',
    scope: 'usage:read',
    errors: [...HTTP_ERRORS, ...ABUSE_LIMIT_ERRORS, ...KEY_ERRORS, 'missing_scope', ...SERVER_ERRORS],
  },
];

/** Maximum characters of the `id` of GET /v1/generation; longer ids are not found. */
export const MAX_GENERATION_ID_LENGTH = 128;
