import { asObject } from '../completion/json';

/** A provider's error in normalized form. Missing fields are empty. */
export interface ProviderError {
  readonly message: string;
  readonly code: string;
  readonly type: string;
  readonly param: string | undefined;
}

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

/** Parses `{error: {…}}`, `{error: "…"}`, `{object: "error", …}` and FastAPI's `{detail: …}`. */
export function readErrorBody(body: unknown): ProviderError {
  return readErrorObject(body) ?? readDetail(asObject(body)?.['detail']) ?? NO_ERROR;
}

/** The same without `detail`, which is not an error in a 2xx response; undefined when there is no error. */
export function readErrorObject(response: unknown): ProviderError | undefined {
  const outer = asObject(response);
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

export function isContextLengthError({ code, type, message }: ProviderError): boolean {
  return (
    CONTEXT_NAMES.has(code.toLowerCase()) ||
    CONTEXT_NAMES.has(type.toLowerCase()) ||
    CONTEXT_TEXTS.some((text) => text.test(message))
  );
}

/** @param sent the model name in the request. */
export function isUnknownModelError({ code, type, message }: ProviderError, sent: string): boolean {
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
