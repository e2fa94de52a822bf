import type { Model, Target } from '../catalogue/model-catalogue';
import { asObject, parseJson } from '../completion/json';
import { publicText } from '../failure/public-text';
import { UpstreamFailure, type FailureKind } from '../failure/upstream-failure';

/** The request's numbers that a message about its length names. */
export interface RequestSize {
  readonly estimatedInputTokens: number;
  readonly maxOutputTokens: number;
}

interface ProviderError {
  readonly message: string;
  readonly code: string;
  readonly type: string;
  readonly param: string | undefined;
}

const NO_ERROR: ProviderError = { message: '', code: '', type: '', param: undefined };

const CONTEXT_CODES = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'string_above_max_length',
]);
const CONTEXT_TEXT =
  /maximum context length|context[ _](?:length|window)|prompt is too long|too many (?:input )?tokens|exceeds? the (?:model'?s? )?(?:maximum|max) (?:number of )?tokens/i;
const UNKNOWN_MODEL_CODES = new Set(['model_not_found', 'model_not_available', 'unknown_model']);
const THROTTLED_TEXT = /rate[\s_-]?limit|too many requests|insufficient_quota|overloaded|capacity/i;
const FIELD_PATH = /^[A-Za-z_][A-Za-z0-9_.[\]-]{0,127}$/;

/** A wait that a provider asks for is believed up to this, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * What an answer that is not 2xx means. A 404, and a 400 about an unknown
 * model, is our own mapping's fault: the caller's model id was checked
 * against the catalogue before.
 */
export function classifyAnswer(
  status: number,
  body: string,
  retryAfter: string | undefined,
  target: Target,
  model: Model,
  size: RequestSize,
): UpstreamFailure {
  const answer = asObject(parseJson(body));
  const error = readProviderError(answer) ?? detailOf(answer?.['detail']) ?? NO_ERROR;
  return failureOf(
    kindOfStatus(status, error),
    `HTTP ${status}`,
    error,
    target,
    model,
    size,
    waitMs(retryAfter),
  );
}

/** What an error object inside a 200 answer or a stream means; undefined when there is none. */
export function classifyErrorObject(
  answer: unknown,
  target: Target,
  model: Model,
  size: RequestSize,
): UpstreamFailure | undefined {
  const error = readProviderError(answer);
  if (!error) return undefined;
  return failureOf(kindOfError(error), 'error in the answer', error, target, model, size, undefined);
}

function kindOfStatus(status: number, error: ProviderError): FailureKind {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return kindOfRejection(error);
    case 408:
      return 'timed_out';
    case 409:
    case 425:
      return 'failed';
    case 429:
      return 'throttled';
    default:
      // Redirects are not followed; they and the remaining 4xx say that our address, key or mapping is wrong.
      return status >= 500 ? 'failed' : 'misconfigured';
  }
}

function kindOfRejection(error: ProviderError): FailureKind {
  if (UNKNOWN_MODEL_CODES.has(error.code)) return 'misconfigured';
  if (CONTEXT_CODES.has(error.code) || CONTEXT_TEXT.test(error.message)) return 'context_too_long';
  return 'rejected';
}

function kindOfError(error: ProviderError): FailureKind {
  const status = Number(error.code);
  if (Number.isInteger(status) && status >= 400 && status < 600) return kindOfStatus(status, error);
  if (/authentication|permission/i.test(error.type)) return 'misconfigured';
  if (THROTTLED_TEXT.test(`${error.type} ${error.code}`)) return 'throttled';
  if (/invalid_request|badrequest/i.test(error.type) || CONTEXT_CODES.has(error.code)) {
    return kindOfRejection(error);
  }
  return 'failed';
}

function failureOf(
  kind: FailureKind,
  origin: string,
  error: ProviderError,
  target: Target,
  model: Model,
  size: RequestSize,
  retryAfterMs: number | undefined,
): UpstreamFailure {
  const said = publicText(error.message, secretsOf(target), { [target.providerModel]: model.id });
  const detail = `${target.provider.name}: ${origin}${error.code ? ` ${error.code.slice(0, 64)}` : ''}${said ? `: ${said}` : ''}`;
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  switch (kind) {
    case 'context_too_long':
      return new UpstreamFailure(kind, { detail, ...contextLengthError(error.message, model, size) });
    case 'rejected':
      return new UpstreamFailure(kind, {
        detail,
        ...(said === undefined ? {} : { publicMessage: said }),
        ...(error.param === undefined ? {} : { param: error.param }),
      });
    default:
      return new UpstreamFailure(kind, { detail, ...wait });
  }
}

/** Worded as the check before dispatch words it, so that both paths agree. */
function contextLengthError(message: string, model: Model, size: RequestSize) {
  const limit = model.contextLength;
  const estimate = size.estimatedInputTokens + size.maxOutputTokens;
  const reported = Number(
    /(?:requested|resulted in|contains?)\D{0,24}?(\d{1,9}) tokens/i.exec(message)?.[1] ?? 0,
  );
  const total = Math.max(estimate, reported);
  const requested =
    total > limit
      ? `However, you requested ${total} tokens (${total - size.maxOutputTokens} in the messages, ${size.maxOutputTokens} in the completion).`
      : `However, you requested more than that (about ${size.estimatedInputTokens} in the messages, ${size.maxOutputTokens} in the completion).`;
  return {
    publicMessage: `This model's maximum context length is ${limit} tokens. ${requested}`,
    param: 'messages',
    metadata: { estimated_tokens: total, limit },
  };
}

function readProviderError(answer: unknown): ProviderError | undefined {
  const outer = asObject(answer);
  if (!outer) return undefined;
  const inner = outer['error'];
  if (typeof inner === 'string' && inner.length > 0) {
    return { message: inner, code: '', type: '', param: undefined };
  }
  // Some servers answer with the error object itself, as {object: "error", message}.
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

/** FastAPI servers put their message in `detail`. */
function detailOf(detail: unknown): ProviderError | undefined {
  if (typeof detail === 'string') return { message: detail, code: '', type: '', param: undefined };
  if (Array.isArray(detail)) {
    return { message: textOf(asObject(detail[0])?.['msg']), code: '', type: '', param: undefined };
  }
  return undefined;
}

/** The output limit travels under the provider's name for it; callers know it as max_tokens. */
function publicParam(param: string): string {
  return param === 'max_completion_tokens' ? 'max_tokens' : param;
}

function secretsOf(target: Target): readonly string[] {
  const { apiKey, baseUrl, headers, name } = target.provider;
  return [
    ...(apiKey === undefined ? [] : [apiKey]),
    baseUrl,
    baseUrl.replace(/^[a-z]+:\/\//i, '').replace(/[/:].*$/, ''),
    name,
    ...Object.values(headers),
  ];
}

function waitMs(retryAfter: string | undefined): number | undefined {
  const seconds = Number(retryAfter);
  if (!retryAfter || !Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
