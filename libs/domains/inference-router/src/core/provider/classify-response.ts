import type { Model, Target } from '../catalogue/model-catalogue';
import { parseJson } from '../completion/json';
import {
  readErrorObject,
  readErrorBody,
  isContextLengthError,
  isUnknownModelError,
  type ProviderError,
} from '../failure/provider-errors';
import { operatorText, publicText } from '../failure/public-text';
import { UpstreamFailure, type FailureKind } from '../failure/upstream-failure';

/** The numbers for a message about the context length. */
export interface RequestSize {
  readonly estimatedInputTokens: number;
  readonly maxOutputTokens: number;
}

const THROTTLED_TEXT = /rate[\s_-]?limit|too many requests|insufficient_quota|overloaded|capacity/i;
/** The upper limit of a provider's `retry-after`, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Classifies a response that is not 2xx. A 404, or a 400 about an unknown model, is
 * an error in our mapping: the public model id was found in the catalogue.
 */
export function classifyErrorResponse(
  status: number,
  body: string,
  retryAfter: string | undefined,
  target: Target,
  model: Model,
  size: RequestSize,
): UpstreamFailure {
  const error = readErrorBody(parseJson(body));
  return failureOf(
    kindOfStatus(status, error, target),
    `HTTP ${status}`,
    error,
    target,
    model,
    size,
    waitMs(retryAfter),
  );
}

/** Classifies an error object in a 2xx response or a stream; undefined when there is none. */
export function classifyErrorObject(
  response: unknown,
  target: Target,
  model: Model,
  size: RequestSize,
): UpstreamFailure | undefined {
  const error = readErrorObject(response);
  if (!error) return undefined;
  return failureOf(
    kindOfError(error, target),
    'error in the response',
    error,
    target,
    model,
    size,
    undefined,
  );
}

function kindOfStatus(status: number, error: ProviderError, target: Target): FailureKind {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return kindOfRejection(error, target);
    case 408:
      return 'timed_out';
    case 409:
    case 425:
      return 'failed';
    case 429:
      return 'throttled';
    // Some providers use 529 for "overloaded".
    case 503:
    case 529:
      return 'unavailable';
    default:
      // Redirects are not followed. They and other 4xx mean that our address, key or model mapping is wrong.
      return status >= 500 ? 'failed' : 'misconfigured';
  }
}

function kindOfRejection(error: ProviderError, { providerModel }: Target): FailureKind {
  if (isContextLengthError(error)) return 'context_too_long';
  if (isUnknownModelError(error, providerModel)) return 'misconfigured';
  return 'rejected';
}

function kindOfError(error: ProviderError, target: Target): FailureKind {
  const status = Number(error.code);
  if (Number.isInteger(status) && status >= 400 && status < 600) return kindOfStatus(status, error, target);
  if (/authentication|permission/i.test(error.type)) return 'misconfigured';
  if (THROTTLED_TEXT.test(`${error.type} ${error.code}`)) return 'throttled';
  if (/invalid_request|badrequest/i.test(error.type) || isContextLengthError(error)) {
    return kindOfRejection(error, target);
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
  const publicMessage = publicText(error.message, {
    secrets: keysOf(target),
    names: namesOf(target),
    renames: { [target.providerModel]: model.id },
  });
  const logText = operatorText(error.message, keysOf(target));
  const detail = `${target.provider.name}: ${origin}${error.code ? ` ${error.code.slice(0, 64)}` : ''} from ${target.provider.baseUrl}/chat/completions${logText ? `: ${logText}` : ''}`;
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  switch (kind) {
    case 'context_too_long':
      return new UpstreamFailure(kind, { detail, ...contextLengthError(error.message, model, size) });
    case 'rejected':
      return new UpstreamFailure(kind, {
        detail,
        ...(publicMessage === undefined ? {} : { publicMessage }),
        ...(error.param === undefined ? {} : { param: error.param }),
      });
    default:
      return new UpstreamFailure(kind, { detail, ...wait });
  }
}

/** The same text as that of the check before dispatch. */
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

/** Secrets, which are removed from every text. */
function keysOf({ provider: { apiKey, headers } }: Target): readonly string[] {
  return [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(headers)];
}

/** Names that identify the provider, which are removed from public texts. */
function namesOf({ provider: { baseUrl, name } }: Target): readonly string[] {
  return [baseUrl, baseUrl.replace(/^[a-z]+:\/\//i, '').replace(/[/:].*$/, ''), name];
}

function waitMs(retryAfter: string | undefined): number | undefined {
  const seconds = Number(retryAfter);
  if (!retryAfter || !Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
}
