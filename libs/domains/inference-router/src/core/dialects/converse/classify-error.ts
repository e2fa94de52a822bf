import { asObject, textOf, type JsonObject } from '../../completion/json';
import type { ProviderError } from '../dialect';
import { kindOfStatus } from '../failures';
import type { FailureKind } from '../../failure/upstream-failure';

/** The response header with the type of an error. Bodies of HTTP errors seldom repeat it. */
const ERROR_TYPE_HEADER = 'x-amzn-errortype';

const EXCEPTION = /Exception$/;
const NO_ERROR: ProviderError = { message: '', code: '', type: '', param: undefined };

/** By error type, with a capital letter as in HTTP errors, and without "Exception". */
const kinds: Readonly<Record<string, FailureKind>> = {
  Throttling: 'throttled',
  Throttled: 'throttled',
  TooManyRequests: 'throttled',
  RequestLimitExceeded: 'throttled',
  ServiceUnavailable: 'unavailable',
  ModelNotReady: 'unavailable',
  ModelTimeout: 'timed_out',
  InternalServer: 'failed',
  InternalFailure: 'failed',
  Conflict: 'failed',
  AccessDenied: 'misconfigured',
  NotAuthorized: 'misconfigured',
  OptInRequired: 'misconfigured',
  UnrecognizedClient: 'misconfigured',
  InvalidClientTokenId: 'misconfigured',
  InvalidSignature: 'misconfigured',
  IncompleteSignature: 'misconfigured',
  SignatureDoesNotMatch: 'misconfigured',
  MissingAuthenticationToken: 'misconfigured',
  ExpiredToken: 'misconfigured',
  ResourceNotFound: 'misconfigured',
  ServiceQuotaExceeded: 'misconfigured',
  UnknownOperation: 'misconfigured',
};

/** The status of the model's own server, in a ModelErrorException or a ModelStreamErrorException. */
const kindsOfOriginalStatus: Readonly<Record<string, FailureKind>> = {
  '408': 'timed_out',
  '429': 'throttled',
  '503': 'unavailable',
  '529': 'unavailable',
};

/** The same error by vendor of the model. */
const CONTEXT_TEXTS: readonly RegExp[] = [
  // Claude, and Bedrock itself
  /(?:input|prompt) is too long|exceeds? context limit|context (?:length|window)/i,
  // Nova, Mistral, Llama and models behind OpenAI's protocol
  /(?:input|prompt|total) tokens? exceeds|too many (?:input )?tokens|maximum (?:context|model|number of input) (?:length|tokens)/i,
];

/** Validation errors about the operator's model id, access or account. */
const OPERATOR_TEXTS: readonly RegExp[] = [
  /model identifier is invalid/i,
  /on-demand throughput isn.t supported/i,
  /(?:do not|don.t) have access to the model/i,
  /access to this model is not available|model access is denied/i,
  /reached the end of its life|marked by provider as legacy/i,
  /operation not allowed/i,
  /invalid (?:payment|account)|account .{0,40}(?:not authorized|suspended)/i,
];

/** Reads `{"message"}` or `{"__type", "message"}` of an HTTP error. The type is in the body or a header. */
export function readError(body: unknown, header: (name: string) => string | undefined): ProviderError {
  const error = errorIn(asObject(body) ?? {}) ?? NO_ERROR;
  return error.type === '' ? { ...error, type: withoutNamespace(header(ERROR_TYPE_HEADER) ?? '') } : error;
}

/** The error in an event or a response, also `{"<type>Exception": {"message"}}`; undefined when it has none. */
export function errorIn(object: JsonObject): ProviderError | undefined {
  for (const name of Object.keys(object)) {
    if (EXCEPTION.test(name)) return errorOf(name, asObject(object[name]) ?? {});
  }
  return isErrorBody(object) ? errorOf(textOf(object['__type']), object) : undefined;
}

/** Neither a response nor an event of a stream has these fields at its top level. */
function isErrorBody(body: JsonObject): boolean {
  return ['__type', 'message', 'Message'].some((name) => typeof body[name] === 'string');
}

function errorOf(type: string, fields: JsonObject): ProviderError {
  const status = fields['originalStatusCode'];
  return {
    message: textOf(fields['message']) || textOf(fields['Message']) || textOf(fields['originalMessage']),
    code: typeof status === 'number' ? String(status) : '',
    type: withoutNamespace(type),
    param: undefined,
  };
}

export function kindOfError(
  error: ProviderError,
  status: number | undefined,
  providerModel: string,
): FailureKind {
  const name = error.type.replace(EXCEPTION, '').replace(/^[a-z]/, (letter) => letter.toUpperCase());
  if (name === 'ModelError' || name === 'ModelStreamError') {
    const original = kindsOfOriginalStatus[error.code];
    if (original) return original;
    return isContextLength(error.message) ? 'context_too_long' : 'failed';
  }
  if (Object.hasOwn(kinds, name)) return kinds[name] ?? 'failed';
  if (name === 'Validation') return kindOfValidation(error, providerModel);
  const kind = status === undefined ? 'failed' : kindOfStatus(status);
  return kind === 'rejected' ? kindOfValidation(error, providerModel) : kind;
}

/** Only these are about the context window: "Too many tokens" of a ThrottlingException is a rate. */
function kindOfValidation({ message }: ProviderError, providerModel: string): FailureKind {
  if (isContextLength(message)) return 'context_too_long';
  if (OPERATOR_TEXTS.some((text) => text.test(message))) return 'misconfigured';
  // For example: The model "…" is not available in this region.
  if (message.includes(providerModel) && /not (?:found|available|supported)|does not exist/i.test(message)) {
    return 'misconfigured';
  }
  return 'rejected';
}

function isContextLength(message: string): boolean {
  return CONTEXT_TEXTS.some((text) => text.test(message));
}

/** Removes a namespace before "#", and an address after ":". */
function withoutNamespace(type: string): string {
  return (type.split('#').at(-1) ?? '').replace(/:.*$/s, '').slice(0, 64);
}
