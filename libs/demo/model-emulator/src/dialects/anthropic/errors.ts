import { ProviderError } from '../../errors';

/** A 400 about the part of the request at `path`, such as "messages.0.content". */
export function invalid(path: string, problem: string): ProviderError {
  return new ProviderError({ status: 400, message: `${path}: ${problem}` });
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export function renderError(error: ProviderError, requestId: string | undefined): string {
  return JSON.stringify({
    type: 'error',
    error: { type: typeOf(error.status), message: messageOf(error) },
    request_id: requestId ?? null,
  });
}

function typeOf(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

function messageOf({ contextLength, message, status }: ProviderError): string {
  if (contextLength) {
    const { requested, limit } = contextLength;
    return `prompt is too long: ${Math.max(requested, limit + 1)} tokens > ${limit} maximum`;
  }
  return status === 401 ? 'invalid x-api-key' : message;
}
