import { AsyncLocalStorage } from 'node:async_hooks';
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind as OtelKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span as OtelSpan,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import type { Span, SpanAttributes, SpanKind, SpanStart, TraceHeaders, Tracing } from '../tracing';

const KINDS: Readonly<Record<SpanKind, OtelKind>> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
  internal: OtelKind.INTERNAL,
};

/** Tracing with OpenTelemetry's SDK. Nothing is registered globally; the current span is stored here. */
export function createTracing(tracer: Tracer): Tracing {
  const currents = new AsyncLocalStorage<RecordedSpan | undefined>();

  function parentOf({ parent }: SpanStart): Context {
    if (parent === 'none') return ROOT_CONTEXT;
    if (parent !== undefined) return contextOf(parent);
    const current = currents.getStore();
    return current === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, current.context);
  }

  return {
    start(name, start) {
      const span = tracer.startSpan(
        name,
        {
          kind: KINDS[start.kind],
          attributes: start.attributes,
          startTime: start.startedAtMs,
          links: start.links?.map((link) => ({ context: (link as RecordedSpan).context })),
        },
        parentOf(start),
      );
      return new RecordedSpan(span);
    },
    current: () => currents.getStore(),
    run: (span, work) => currents.run(span as RecordedSpan | undefined, work),
  };
}

class RecordedSpan implements Span {
  readonly context: SpanContext;
  private cachedHeaders: TraceHeaders | undefined;

  constructor(private readonly span: OtelSpan) {
    this.context = span.spanContext();
  }

  get traceId(): string {
    return this.context.traceId;
  }

  get spanId(): string {
    return this.context.spanId;
  }

  get isSampled(): boolean {
    return (this.context.traceFlags & TraceFlags.SAMPLED) !== 0;
  }

  get headers(): TraceHeaders {
    this.cachedHeaders ??= headersOf(this.context);
    return this.cachedHeaders;
  }

  set(attributes: SpanAttributes): void {
    this.span.setAttributes(attributes);
  }

  end(failure?: string): void {
    if (failure !== undefined) {
      this.span.setAttribute('error.type', failure);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

function headersOf({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Invalid headers have no parent. */
function contextOf({ traceparent, tracestate }: Partial<TraceHeaders>): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const context: SpanContext = {
    traceId,
    spanId,
    traceFlags: parseInt(flags, 16),
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
  return trace.setSpanContext(ROOT_CONTEXT, context);
}
