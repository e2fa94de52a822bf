import type { ProviderError } from './dialect';

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
