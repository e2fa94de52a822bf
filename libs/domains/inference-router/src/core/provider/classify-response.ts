import type { Model, Target } from '../catalogue/model-catalogue';
import { parseJson } from '../completion/json';
import type { ProviderError } from '../dialects/dialect';
import { dialects } from '../dialects/registry';
import { providerAddress } from './provider-address';
import { operatorText, operatorToken, publicText } from '../failure/public-text';
import { UpstreamFailure } from '../failure/upstream-failure';
import { requestsStream } from './target-call';

/** What messages about a failure say about the request. */
export interface FailedRequest {
  /** Without the fields that the router adds. */
  readonly bodyJson: Uint8Array;
  readonly stream: boolean;
  readonly jsonResponse?: boolean;
  /** Embeddings instead of a completion. */
  readonly embeddings?: boolean;
  readonly estimatedInputTokens: number;
  readonly maxOutputTokens: number;
}

/** The upper limit of a provider's `retry-after`, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Classifies a response that is not 2xx. */
export function classifyErrorResponse(
  status: number,
  body: string,
  header: (name: string) => string | undefined,
  target: Target,
  model: Model,
  request: FailedRequest,
  logsErrorTexts = false,
): UpstreamFailure {
  const error = dialects[target.provider.dialect].readError(parseJson(body), header);
  return classifyError(
    error,
    { status, retryAfterMs: waitMs(header('retry-after')) },
    target,
    model,
    request,
    logsErrorTexts,
  );
}

/**
 * @param response undefined for an error within a 2xx response.
 * @param logsErrorTexts whether the internal message and the report have the provider's text, which may quote the prompt.
 */
export function classifyError(
  error: ProviderError,
  response: { readonly status: number; readonly retryAfterMs: number | undefined } | undefined,
  target: Target,
  model: Model,
  request: FailedRequest,
  logsErrorTexts = false,
): UpstreamFailure {
  const { provider, providerModel } = target;
  const dialect = dialects[provider.dialect];
  const kind = dialect.kindOfError(error, response?.status, providerModel);
  const origin = response === undefined ? 'error in the response' : `HTTP ${response.status}`;
  const [code = '', type = ''] = [error.code, error.type].map((token) =>
    operatorToken(token, keysOf(target)),
  );
  const tokens = [...new Set([code, type])].filter((token) => token !== '');
  const { origin: server, pathOf } = providerAddress(provider.baseUrl);
  const call = { providerModel, stream: requestsStream(request, target), options: target.options };
  const path = request.embeddings ? dialect.embeddings?.path(call) : dialect.path(call);
  const url = server + pathOf(path ?? '');
  const logText = logsErrorTexts ? operatorText(error.message, keysOf(target)) : undefined;
  const detail = `${provider.name}: ${[origin, ...tokens].join(' ')} from ${url}${logText ? `: ${logText}` : ''}`;
  const reported = { httpStatus: response?.status ?? 0, code, type, text: logText ?? '' };
  switch (kind) {
    case 'context_too_long':
      return new UpstreamFailure(kind, {
        detail,
        reported,
        ...contextLengthError(error.message, model, request),
      });
    case 'rejected': {
      const ownField = dialect.refusesOwnField?.(error, request.bodyJson);
      if (ownField !== undefined)
        return new UpstreamFailure('misconfigured', {
          detail,
          reported,
          refusesLimitName: ownField === 'output_limit_name',
        });
      const publicMessage = publicText(error.message, {
        secrets: keysOf(target),
        names: namesOf(target),
        renames: { [providerModel]: model.id },
      });
      return new UpstreamFailure(kind, {
        detail,
        reported,
        publicMessage,
        param: error.param,
      });
    }
    default: {
      const retryAfterMs = response?.retryAfterMs ?? error.retryAfterMs;
      return new UpstreamFailure(kind, {
        detail,
        reported,
        retryAfterMs,
      });
    }
  }
}

/** The same text as that of the check before dispatch. */
function contextLengthError(message: string, model: Model, request: FailedRequest) {
  const limit = model.contextLength;
  if (request.embeddings)
    return {
      publicMessage: `This model's maximum context length is ${limit} tokens. However, an input has more. Please reduce its length.`,
      param: 'input',
      metadata: { estimated_tokens: request.estimatedInputTokens, limit },
    };
  const estimate = request.estimatedInputTokens + request.maxOutputTokens;
  const reported = Number(
    /(?:requested|resulted in|contains?)\D{0,24}?(\d{1,9}) tokens/i.exec(message)?.[1] ?? 0,
  );
  const total = Math.max(estimate, reported);
  const requested =
    total > limit
      ? `However, you requested ${total} tokens (${total - request.maxOutputTokens} in the messages, ${request.maxOutputTokens} in the completion).`
      : `However, you requested more than that (about ${request.estimatedInputTokens} in the messages, ${request.maxOutputTokens} in the completion).`;
  return {
    publicMessage: `This model's maximum context length is ${limit} tokens. ${requested}`,
    param: 'messages',
    metadata: { estimated_tokens: total, limit },
  };
}

/** Secrets, which are removed from every text. */
function keysOf({ provider: { credential, headers } }: Target): readonly string[] {
  return [...('apiKey' in credential ? [credential.apiKey] : []), ...Object.values(headers)];
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
