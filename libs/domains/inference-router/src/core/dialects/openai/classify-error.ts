import { asObject } from '../../completion/json';
import type { FailureKind } from '../../failure/upstream-failure';
import type { ProviderError } from '../dialect';

const THROTTLED_TEXT = /rate[\s_-]?limit|too many requests|overloaded|capacity/i;
/** Errors of the operator's account, which waiting does not resolve. */
const ACCOUNT_ERRORS = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active']);
const NO_ERROR: ProviderError = { message: '', code: '', type: '', param: undefined };
const FIELD_PATH = /^[A-Za-z_][A-Za-z0-9_.[\]-]{0,127}$/;

/** Error codes and types of requests that exceed the context window, in lower case. */
const CONTEXT_NAMES = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'contextwindowexceedederror',
  'string_above_max_length',
  'exceed_context_size_error',
]);

/** Messages of the same error, by server. The fixtures have a real response of each. */
const CONTEXT_TEXTS: readonly RegExp[] = [
  // OpenAI, Azure, vLLM, SGLang, Mistral, OpenRouter
  /maximum (?:context|model) length|context length|context[ _]window/i,
  // llama.cpp
  /available context size/i,
  // LiteLLM
  /ContextWindowExceeded/,
  // Ollama
  /exceeded max context|context limit/i,
  // TGI, Together
  /`?inputs`? (?:tokens \+ `?max_new_tokens`? )?must (?:be|have less)/i,
  // Anthropic, Bedrock, Cohere, Gemini
  /(?:prompt|input) is too long|too many (?:input )?tokens|token count .{0,40}exceeds/i,
  /exceeds? the (?:model'?s? )?(?:maximum|max) (?:number of )?tokens/i,
];

/** Error codes and types of model names that the provider does not know. Our mapping is wrong then. */
const UNKNOWN_MODEL_NAMES = new Set([
  'model_not_found',
  'model_not_available',
  'unknown_model',
  'invalid_model',
]);

/** Messages of the same error; matched only when the message has the model name that was sent. */
const UNKNOWN_MODEL_TEXT =
  /invalid model(?: name| id)?\b|not a valid model|unknown model|model\b.{0,300}?\b(?:does not exist|not exist|not found|is not available|not supported)/is;
/** The same for servers whose message may not repeat the model name. */
const OTHER_MODEL_TEXTS: readonly RegExp[] = [
  // transformers serve
  /\bpinned to\b/i,
  // LiteLLM
  /invalid model name passed in/i,
  // DeepSeek
  /^model not exist$/i,
];

/** Parses `{error: {…}}`, `[{error: {…}}]`, `{error: "…"}`, `{object: "error", …}` and FastAPI's `{detail: …}`. */
export function readError(body: unknown): ProviderError {
  return readErrorObject(body) ?? readDetail(asObject(body)?.['detail']) ?? NO_ERROR;
}

/** The same without `detail`, which is not an error in a 2xx response; undefined when there is no error. */
export function readErrorObject(response: unknown): ProviderError | undefined {
  const outer = asObject(Array.isArray(response) ? response[0] : response);
  if (!outer) return undefined;
  const inner = outer['error'];
  if (typeof inner === 'string' && inner.length > 0) {
    return { ...NO_ERROR, message: inner, type: textOf(outer['error_type']) };
  }
  // Some servers return the bare error object: {object: "error", message}.
  const error = asObject(inner) ?? (outer['object'] === 'error' ? outer : undefined);
  if (!error) return undefined;
  const param = error['param'];
  return {
    message: textOf(error['message']),
    code: textOf(error['code']),
    type: textOf(error['type']),
    param: typeof param === 'string' && FIELD_PATH.test(param) ? publicParam(param) : undefined,
  };
}

/**
 * A 404, or a 400 about an unknown model, is an error in our mapping: the public model id was found in the catalogue.
 *
 * @param status of the response; undefined for an error within a 2xx response.
 */
export function kindOfError(
  error: ProviderError,
  status: number | undefined,
  providerModel: string,
): FailureKind {
  return status === undefined
    ? kindInResponse(error, providerModel)
    : kindOfStatus(status, error, providerModel);
}

function kindInResponse(error: ProviderError, providerModel: string): FailureKind {
  const status = Number(error.code);
  if (Number.isInteger(status) && status >= 400 && status < 600)
    return kindOfStatus(status, error, providerModel);
  if (/authentication|permission/i.test(error.type) || isAccountError(error)) return 'misconfigured';
  if (THROTTLED_TEXT.test(`${error.type} ${error.code}`)) return 'throttled';
  if (/invalid_request|badrequest/i.test(error.type) || isContextLengthError(error)) {
    return kindOfRejection(error, providerModel);
  }
  return 'failed';
}

function kindOfStatus(status: number, error: ProviderError, providerModel: string): FailureKind {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return kindOfRejection(error, providerModel);
    case 408:
      return 'timed_out';
    case 409:
    case 425:
      return 'failed';
    case 429:
      return isAccountError(error) ? 'misconfigured' : 'throttled';
    // Some providers use 529 for "overloaded".
    case 503:
    case 529:
      return 'unavailable';
    default:
      // Redirects are not followed. They and other 4xx mean that our address, key or model mapping is wrong.
      return status >= 500 ? 'failed' : 'misconfigured';
  }
}

function kindOfRejection(error: ProviderError, providerModel: string): FailureKind {
  if (isContextLengthError(error)) return 'context_too_long';
  if (isUnknownModelError(error, providerModel)) return 'misconfigured';
  return 'rejected';
}

function isAccountError({ code, type }: ProviderError): boolean {
  return ACCOUNT_ERRORS.has(code) || ACCOUNT_ERRORS.has(type);
}

function isContextLengthError({ code, type, message }: ProviderError): boolean {
  return (
    CONTEXT_NAMES.has(code.toLowerCase()) ||
    CONTEXT_NAMES.has(type.toLowerCase()) ||
    CONTEXT_TEXTS.some((text) => text.test(message))
  );
}

/** @param sent the model name in the request. */
function isUnknownModelError({ code, type, message }: ProviderError, sent: string): boolean {
  return (
    UNKNOWN_MODEL_NAMES.has(code.toLowerCase()) ||
    UNKNOWN_MODEL_NAMES.has(type.toLowerCase()) ||
    OTHER_MODEL_TEXTS.some((text) => text.test(message)) ||
    (message.includes(sent) && UNKNOWN_MODEL_TEXT.test(message))
  );
}

function readDetail(detail: unknown): ProviderError | undefined {
  if (typeof detail === 'string') return { ...NO_ERROR, message: detail };
  if (Array.isArray(detail)) return { ...NO_ERROR, message: textOf(asObject(detail[0])?.['msg']) };
  return undefined;
}

/** Clients know the output limit as max_tokens, whatever its name at the provider. */
function publicParam(param: string): string {
  return param === 'max_completion_tokens' ? 'max_tokens' : param;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
