import { asObject, textOrNumber, type JsonObject } from '../../completion/json';
import type { ProviderError } from '../dialect';
import { kindOfStatus } from '../failures';
import { isContextLengthError, isUnknownModelError } from '../error-texts';
import type { FailureKind } from '../../failure/upstream-failure';

/** The error types of Anthropic, the status names of Google and the exceptions of AWS. */
const kindByType: Readonly<Record<string, FailureKind>> = {
  invalid_request_error: 'rejected',
  request_too_large: 'rejected',
  authentication_error: 'misconfigured',
  billing_error: 'misconfigured',
  permission_error: 'misconfigured',
  not_found_error: 'misconfigured',
  rate_limit_error: 'throttled',
  overloaded_error: 'unavailable',
  timeout_error: 'timed_out',
  conflict_error: 'failed',
  INVALID_ARGUMENT: 'rejected',
  FAILED_PRECONDITION: 'rejected',
  UNAUTHENTICATED: 'misconfigured',
  PERMISSION_DENIED: 'misconfigured',
  NOT_FOUND: 'misconfigured',
  RESOURCE_EXHAUSTED: 'throttled',
  UNAVAILABLE: 'unavailable',
  DEADLINE_EXCEEDED: 'timed_out',
  ValidationException: 'rejected',
  AccessDeniedException: 'misconfigured',
  UnrecognizedClientException: 'misconfigured',
  ExpiredTokenException: 'misconfigured',
  ResourceNotFoundException: 'misconfigured',
  ThrottlingException: 'throttled',
  ServiceQuotaExceededException: 'throttled',
  ModelNotReadyException: 'unavailable',
  ServiceUnavailableException: 'unavailable',
  ModelTimeoutException: 'timed_out',
};

/** Causes that lie in the operator's account or configuration, whatever the type of the error. */
const OPERATOR_CODES =
  /^(?:cmek_key_(?:disabled|network_blocked)|organization_|parent_organization_|workspace_|linked_organization_|claude_code_|sandbox_|(?:contract|enforced)_spend_limit_)/;
const OPERATOR_TEXT = new RegExp(
  [
    // Credit and spend limits; sent as invalid_request_error.
    'credit balance is too low',
    'specified API usage limits',
    'extra usage is required',
    'organization has been disabled',
    // The target names an unknown model or host form.
    '^anthropic[-_]version',
    'model identifier is invalid',
    'on-demand throughput isn.t supported',
    // The target's `reasoning` or the model's efforts are wrong: clients send neither of these fields.
    'thinking\\.type',
    'adaptive thinking is not supported',
    'does not support (?:the )?effort',
  ].join('|'),
  'i',
);

/** The client's field by the first word of a message, as in "messages.1.content.0: …" and "`temperature` …". */
const paramByField: Readonly<Record<string, string>> = {
  messages: 'messages',
  system: 'messages',
  tools: 'tools',
  tool_choice: 'tool_choice',
  max_tokens: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  stop_sequences: 'stop',
  output_config: 'response_format',
  output_format: 'response_format',
  thinking: 'reasoning_effort',
};

const NO_ERROR: ProviderError = { message: '', code: '', type: '', param: undefined };

/** Reads the body of a response that is not 2xx. */
export function readError(body: unknown): ProviderError {
  // Google wraps errors in an array.
  const outer = asObject(Array.isArray(body) ? body[0] : body) ?? {};
  const error = readErrorEvent(outer);
  if (error) return error;
  // AWS has no envelope.
  const message = textOrNumber(outer['message']) || textOrNumber(outer['Message']);
  const type = textOrNumber(outer['__type']).replace(/^.*#/, '');
  return message === '' ? NO_ERROR : { message, code: '', type, param: paramOf(message) };
}

/** The error in an event, or in a response whose status does not report it; undefined when there is none. */
export function readErrorEvent(event: JsonObject): ProviderError | undefined {
  const error = asObject(event['error']);
  return error && readErrorObject(error);
}

/** @param status of the response; undefined for an error within a 2xx response. */
export function kindOfError(
  error: ProviderError,
  status: number | undefined,
  providerModel: string,
): FailureKind {
  if (OPERATOR_CODES.test(error.code) || OPERATOR_TEXT.test(error.message)) return 'misconfigured';
  const kind = kindOf(error, status);
  if (kind !== 'rejected') return kind;
  if (isContextLengthError(error)) return 'context_too_long';
  return isUnknownModelError(error, providerModel) ? 'misconfigured' : 'rejected';
}

function kindOf({ type, code }: ProviderError, status: number | undefined): FailureKind {
  const byType = Object.hasOwn(kindByType, type) ? kindByType[type] : undefined;
  const known = status ?? statusOf(code);
  // invalid_request_error is also the type of statuses without a type of their own.
  if (byType === undefined || (byType === 'rejected' && known !== undefined)) {
    if (known === 504) return 'timed_out';
    return known === undefined ? 'failed' : kindOfStatus(known);
  }
  return byType;
}

function readErrorObject(error: JsonObject): ProviderError {
  const message = textOrNumber(error['message']);
  const details = error['details'];
  const retryAfterMs = Array.isArray(details) ? retryDelayMs(details) : undefined;
  return {
    message,
    code: textOrNumber(asObject(details)?.['error_code']) || textOrNumber(error['code']),
    type: textOrNumber(error['type']) || textOrNumber(error['status']),
    param: paramOf(message),
    retryAfterMs,
  };
}

/** Google's RetryInfo: `{"retryDelay": "1.5s"}`. */
function retryDelayMs(details: readonly unknown[]): number | undefined {
  for (const detail of details) {
    const seconds = /^(\d{1,6}(?:\.\d+)?)s$/.exec(textOrNumber(asObject(detail)?.['retryDelay']))?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1_000);
  }
  return undefined;
}

function paramOf(message: string): string | undefined {
  const field = /^([a-z_]+)(?:\.[\w.[\]-]+)?: |^`([a-z_]+)` /.exec(message)?.slice(1).find(Boolean);
  return field !== undefined && Object.hasOwn(paramByField, field) ? paramByField[field] : undefined;
}

function statusOf(code: string): number | undefined {
  return /^[45]\d\d$/.test(code) ? Number(code) : undefined;
}
