import { endpoints } from '@gateway/public-api';
import { type Span, tracing } from '@gateway/telemetry';
import type { Exchange } from '../exchange';
import { traceOfCaller } from '../request/call-metadata';

/** The span of a request, in the trace of its caller or, without one, in a new one; undefined while tracing is off. */
export function openRequestSpan(exchange: Exchange): Span | undefined {
  const tracer = tracing();
  if (tracer === undefined) return undefined;
  const { request, route, requestId } = exchange;
  const path = endpoints.find(({ name }) => name === route)?.path;
  return tracer.start([request.method, path].filter(Boolean).join(' '), {
    kind: 'server',
    parent: traceOfCaller(request) ?? 'none',
    attributes: {
      'http.request.method': request.method,
      'http.route': path,
      'gateway.request.id': requestId,
    },
  });
}

/** Ends it with what became known on the way. A refusal is the caller's fault, and no failure of the span. */
export function endRequestSpan(exchange: Exchange, status: number): void {
  const { span, generationId, organizationId, keyId, modelId, errorCode } = exchange;
  if (span === undefined) return;
  span.set({
    'http.response.status_code': status,
    'gateway.generation.id': generationId,
    'gateway.organization.id': organizationId,
    'gateway.key.id': keyId,
    'gateway.error.code': errorCode,
    'gen_ai.request.model': modelId,
  });
  // A stream that breaks off has begun with 200.
  const hasFailed = status >= 500 || (status < 400 && errorCode !== undefined);
  span.end(hasFailed ? (errorCode ?? String(status)) : undefined);
}

/** Runs what is done for a request as part of its span. */
export function inRequestSpan<Result>({ span }: Exchange, work: () => Result): Result {
  const tracer = span && tracing();
  return tracer ? tracer.run(span, work) : work();
}
