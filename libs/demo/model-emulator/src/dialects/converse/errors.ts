import { ProviderError } from '../../errors';

const TYPES: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  413: 'ValidationException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
};

/** A 400 about the part of the request at `path`, such as "messages.0.content". */
export function invalid(path: string, problem: string): ProviderError {
  return new ProviderError({ status: 400, message: `${path}: ${problem}` });
}

export function typeOf({ status }: ProviderError): string {
  return TYPES[status] ?? (status >= 500 ? 'InternalServerException' : 'ValidationException');
}

/** The type of the error is in a header. */
export function renderError({ message, contextLength }: ProviderError): string {
  return JSON.stringify({ message: contextLength ? 'Input is too long for requested model.' : message });
}
