import { tracing } from '@gateway/telemetry';
import type { RequestHandler } from 'express';

/** A span for each request of the dashboard's API, in a trace of its own, since browsers send none. */
export const requestSpans: RequestHandler = (request, response, next) => {
  const tracer = tracing();
  if (tracer === undefined) return next();
  const requestId = String(response.getHeader('x-request-id'));
  const span = tracer.start(`${request.method} /api`, {
    kind: 'server',
    parent: 'none',
    attributes: { 'http.request.method': request.method, 'gateway.request.id': requestId },
  });
  response.once('close', () => {
    const { statusCode } = response;
    // As the contract writes it, with names for its parts: a path itself may hold a secret.
    const route = (request.route as { readonly path?: string } | undefined)?.path;
    span.set({ 'http.response.status_code': statusCode, 'http.route': route });
    span.end(statusCode >= 500 ? String(statusCode) : undefined);
  });
  tracer.run(span, next);
};
