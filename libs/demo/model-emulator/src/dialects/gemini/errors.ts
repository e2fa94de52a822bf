import type { ProviderError } from '../../errors';

/** The status of google.rpc for each HTTP status; others are INTERNAL. */
const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNKNOWN',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
};

export const ERROR_EVENT = JSON.stringify({
  error: { code: 500, message: 'An internal error has occurred (emulated fault).', status: 'INTERNAL' },
});

/** The body of an error: `google.rpc.Status`, and the wait of a 429 as `RetryInfo`. */
export function renderError(error: ProviderError): string {
  const wait = error.headers['retry-after'];
  const details =
    wait === undefined
      ? {}
      : { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${wait}s` }] };
  const { status } = error;
  return JSON.stringify({
    error: { code: status, message: textOf(error), status: statuses[status] ?? 'INTERNAL', ...details },
  });
}

function textOf({ contextLength, message }: ProviderError): string {
  if (contextLength === undefined) return message;
  const { requested, limit } = contextLength;
  return `The input token count (${requested}) exceeds the maximum number of tokens allowed (${limit}).`;
}
