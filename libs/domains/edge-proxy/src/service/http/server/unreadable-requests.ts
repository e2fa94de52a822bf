import { errorEnvelope, GatewayError } from '@gateway/errors';
import type { RawResponse, UnreadableRequest } from '@gateway/http-server';

/** The response to a request that reaches no handler: the same envelope as any other error. */
export function unreadableResponse(request: UnreadableRequest, requestId: string): RawResponse {
  const error = errorFor(request);
  return { httpStatus: error.row.httpStatus, requestId, body: JSON.stringify(errorEnvelope(error)) };
}

function errorFor(request: UnreadableRequest): GatewayError {
  switch (request) {
    case 'headers_too_large':
      return new GatewayError('request_too_large', { message: 'The request headers are too large.' });
    case 'overdue':
      return new GatewayError('request_timeout', { message: 'The request did not arrive in time.' });
    case 'malformed':
      return new GatewayError('invalid_request', { message: 'This is not a valid HTTP request.' });
    case 'tunnel':
      return new GatewayError('route_not_found');
  }
}
