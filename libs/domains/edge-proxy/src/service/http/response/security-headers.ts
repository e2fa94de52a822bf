import helmet from 'helmet';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ResponseHeaders } from '@gateway/public-api';

/**
 * The headers of helmet that apply to an API without pages. They are the same
 * for every response, so helmet runs once and not for each request.
 */
export function securityHeaders(): ResponseHeaders {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const fail = (error?: unknown): void => {
    if (error) throw error;
  };
  for (const set of [helmet.xContentTypeOptions(), helmet.strictTransportSecurity()]) {
    set(request, response, fail);
  }
  const headers: ResponseHeaders = {};
  for (const name of response.getHeaderNames()) headers[name] = String(response.getHeader(name));
  return headers;
}
