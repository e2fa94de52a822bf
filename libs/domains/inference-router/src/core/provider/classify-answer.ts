import type { Model, Target } from '../catalogue/model-catalogue';
import { parseJson } from '../completion/json';
import {
  readErrorObject,
  readRefusal,
  saysTooLong,
  saysUnknownModel,
  type ProviderError,
} from '../failure/provider-errors';
import { operatorText, publicText } from '../failure/public-text';
import { UpstreamFailure, type FailureKind } from '../failure/upstream-failure';

/** The request's numbers that a message about its length names. */
export interface RequestSize {
  readonly estimatedInputTokens: number;
  readonly maxOutputTokens: number;
}

const THROTTLED_TEXT = /rate[\s_-]?limit|too many requests|insufficient_quota|overloaded|capacity/i;
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
  const error = readRefusal(parseJson(body));
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

/** What an error object inside a 200 answer or a stream means; undefined when there is none. */
export function classifyErrorObject(
  answer: unknown,
  target: Target,
  model: Model,
  size: RequestSize,
): UpstreamFailure | undefined {
  const error = readErrorObject(answer);
  if (!error) return undefined;
  return failureOf(kindOfError(error, target), 'error in the answer', error, target, model, size, undefined);
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
    // 529 is how some say that they are overloaded.
    case 503:
    case 529:
      return 'unavailable';
    default:
      // Redirects are not followed; they and the remaining 4xx say that our address, key or mapping is wrong.
      return status >= 500 ? 'failed' : 'misconfigured';
  }
}

function kindOfRejection(error: ProviderError, { providerModel }: Target): FailureKind {
  if (saysTooLong(error)) return 'context_too_long';
  if (saysUnknownModel(error, providerModel)) return 'misconfigured';
  return 'rejected';
}

function kindOfError(error: ProviderError, target: Target): FailureKind {
  const status = Number(error.code);
  if (Number.isInteger(status) && status >= 400 && status < 600) return kindOfStatus(status, error, target);
  if (/authentication|permission/i.test(error.type)) return 'misconfigured';
  if (THROTTLED_TEXT.test(`${error.type} ${error.code}`)) return 'throttled';
  if (/invalid_request|badrequest/i.test(error.type) || saysTooLong(error)) {
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
  const said = publicText(error.message, {
    secrets: keysOf(target),
    names: namesOf(target),
    renames: { [target.providerModel]: model.id },
  });
  const words = operatorText(error.message, keysOf(target));
  const detail = `${target.provider.name}: ${origin}${error.code ? ` ${error.code.slice(0, 64)}` : ''} from ${target.provider.baseUrl}/chat/completions${words ? `: ${words}` : ''}`;
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

/** What nobody may read, in whatever text it stands. */
function keysOf({ provider: { apiKey, headers } }: Target): readonly string[] {
  return [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(headers)];
}

/** What tells a caller who the provider is. */
function namesOf({ provider: { baseUrl, name } }: Target): readonly string[] {
  return [baseUrl, baseUrl.replace(/^[a-z]+:\/\//i, '').replace(/[/:].*$/, ''), name];
}

function waitMs(retryAfter: string | undefined): number | undefined {
  const seconds = Number(retryAfter);
  if (!retryAfter || !Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
}
