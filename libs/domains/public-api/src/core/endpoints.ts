import type { ErrorCode } from '@gateway/errors';
import type { FormatName } from './formats/request-format';
import type { KeyScope } from './access/check-key-grant';

export type EndpointName =
  | 'chat_completions'
  | 'messages'
  | 'message_tokens'
  | 'responses'
  | 'embeddings'
  | 'models'
  | 'credits'
  | 'generation'
  | 'usage';

/** The inference endpoints that a deployment serves; `chat` always. */
export const inferenceApis = ['chat', 'messages', 'responses', 'embeddings'] as const;
export type InferenceApi = (typeof inferenceApis)[number];

/** A public endpoint and every error that it can return. */
export interface Endpoint {
  readonly name: EndpointName;
  /** GET implies HEAD. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Absent when any valid key is enough. */
  readonly scope?: KeyScope;
  /** Absent: it is always served. */
  readonly api?: InferenceApi;
  /** The format of its bodies and errors; absent: the gateway's own, with the errors of `chat`. */
  readonly format?: FormatName;
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

/** The errors of a request body, before its tokens are counted. */
const BODY_ERRORS = [
  'missing_scope',
  'request_too_large',
  'request_timeout',
  'invalid_json',
  'missing_model',
  'missing_messages',
  'unknown_parameter',
  'invalid_request',
  'image_url_not_supported',
] as const;

const MODEL_ERRORS = [
  'max_tokens_exceeds_cap',
  'model_not_found',
  'model_not_allowed',
  'tools_not_supported',
  'vision_not_available',
  'json_mode_not_supported',
] as const;

const ADMISSION_ERRORS = [
  'context_length_exceeded',
  'idempotency_key_reused',
  'idempotency_key_in_flight',
  'rpm_exceeded',
  'tpm_exceeded',
  'insufficient_credits',
  'daily_budget_exceeded',
  'upstream_config_error',
  'upstream_error',
] as const;

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
    format: 'chat',
    errors: [
      ...KEY_ERRORS,
      ...BODY_ERRORS,
      'json_mode_no_stream',
      'n_not_allowed',
      ...MODEL_ERRORS,
      'reasoning_effort_not_supported',
      ...ADMISSION_ERRORS,
      ...SERVER_ERRORS,
    ],
  },
  {
    name: 'messages',
    method: 'POST',
    path: '/v1/messages',
    scope: 'chat',
    api: 'messages',
    format: 'messages',
    errors: [
      ...KEY_ERRORS,
      ...BODY_ERRORS,
      'json_mode_no_stream',
      ...MODEL_ERRORS,
      ...ADMISSION_ERRORS,
      ...SERVER_ERRORS,
    ],
  },
  {
    name: 'message_tokens',
    method: 'POST',
    path: '/v1/messages/count_tokens',
    scope: 'chat',
    api: 'messages',
    format: 'messages',
    errors: [
      ...KEY_ERRORS,
      ...BODY_ERRORS,
      'json_mode_no_stream',
      ...MODEL_ERRORS,
      'rpm_exceeded',
      ...SERVER_ERRORS,
    ],
  },
  {
    name: 'responses',
    method: 'POST',
    path: '/v1/responses',
    scope: 'chat',
    api: 'responses',
    format: 'responses',
    errors: [
      ...KEY_ERRORS,
      ...BODY_ERRORS,
      'json_mode_no_stream',
      ...MODEL_ERRORS,
      'reasoning_effort_not_supported',
      ...ADMISSION_ERRORS,
      ...SERVER_ERRORS,
    ],
  },
  {
    name: 'embeddings',
    method: 'POST',
    path: '/v1/embeddings',
    scope: 'chat',
    api: 'embeddings',
    format: 'embeddings',
    errors: [
      ...KEY_ERRORS,
      ...BODY_ERRORS.filter((code) => code !== 'image_url_not_supported'),
      'model_not_found',
      'model_not_allowed',
      ...ADMISSION_ERRORS,
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

const byName: ReadonlyMap<string, Endpoint> = new Map(endpoints.map((each) => [each.name, each]));

/** Undefined for a name that is no endpoint. */
export function endpointNamed(name: string): Endpoint | undefined {
  return byName.get(name);
}

/** The endpoints of a deployment. */
export function endpointsOf(apis: readonly InferenceApi[]): readonly Endpoint[] {
  return endpoints.filter(({ api }) => api === undefined || apis.includes(api));
}

/** Maximum characters of the `id` of GET /v1/generation; longer ids are not found. */
export const MAX_GENERATION_ID_LENGTH = 128;
