import { tracing } from '@gateway/telemetry';
import type { RequestHandler } from 'express';

/** Starts a trace for each request, since browsers send no trace context. */
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
    // The route template, not the path, which may contain a secret.
    const route = (request.route as { readonly path?: string } | undefined)?.path;
    span.set({ 'http.response.status_code': statusCode, 'http.route': route });
    span.end(statusCode >= 500 ? String(statusCode) : undefined);
  });
  tracer.run(span, next);
};
