import { endpointNamed } from '@gateway/public-api';
import { type Span, tracing } from '@gateway/telemetry';
import type { IncomingMessage } from 'node:http';
import type { Exchange, RouteName } from '../exchange';
import { clientTrace } from '../request/call-metadata';

/** Starts the span of a request, in the client's trace or in a new one; undefined while tracing is off. */
export function openRequestSpan(
  request: IncomingMessage,
  route: RouteName,
  requestId: string,
): Span | undefined {
  const tracer = tracing();
  if (tracer === undefined) return undefined;
  const path = endpointNamed(route)?.path;
  return tracer.start([request.method, path].filter(Boolean).join(' '), {
    kind: 'server',
    parent: clientTrace(request) ?? 'none',
    attributes: {
      'http.request.method': request.method,
      'http.route': path,
      'gateway.request.id': requestId,
    },
  });
}

/** Ends the span with the request's attributes. Client errors (4xx) do not mark it as failed. */
export function endRequestSpan(exchange: Exchange, status: number): void {
  const { span } = exchange;
  if (span === undefined) return;
  const { generationId, caller, modelId, error } = exchange.report;
  span.set({
    'http.response.status_code': status,
    'gateway.generation.id': generationId,
    'gateway.organization.id': caller?.organizationId,
    'gateway.key.id': caller?.keyId,
    'gateway.error.code': error?.code,
    'gen_ai.request.model': modelId,
  });
  // A failed stream started with status 200.
  const hasFailed = status >= 500 || (status < 400 && error !== undefined);
  span.end(hasFailed ? (error?.code ?? String(status)) : undefined);
}

/** Runs `work` within the request's span. */
export function inRequestSpan<Result>({ span }: Exchange, work: () => Result): Result {
  const tracer = span && tracing();
  return tracer ? tracer.run(span, work) : work();
}
