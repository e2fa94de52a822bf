import type { CallActor } from '@gateway/actors';
import type { CancelSignal } from '@gateway/base';
import { endWith, tracing, type Span, type SpanStart, type Tracing } from '@gateway/telemetry';
import type { CallContext, CallMetadata, CallOptions } from './definition';

/** The span of a call, with OpenTelemetry's attribute names. */
function spanStartOf(
  kind: 'client' | 'server',
  service: string,
  method: string,
  metadata: CallMetadata | undefined,
): SpanStart {
  return {
    kind,
    attributes: { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method },
    ...(metadata?.['traceparent'] !== undefined && {
      parent: { traceparent: metadata['traceparent'], tracestate: metadata['tracestate'] },
    }),
  };
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;

/** The trace of a call, from its metadata; undefined if tracing is off. */
export function traceOfCall({
  traceparent,
}: CallMetadata): { readonly traceId: string; readonly isSampled: boolean } | undefined {
  if (traceparent === undefined || tracing() === undefined) return undefined;
  const [, traceId, flags = ''] = TRACEPARENT.exec(traceparent) ?? [];
  return traceId === undefined ? undefined : { traceId, isSampled: (parseInt(flags, 16) & 1) === 1 };
}

export interface TracedCall {
  readonly span: Span;
  /** The caller's options, with the span as the parent in the metadata. */
  readonly options: CallOptions;
}

/** Starts the client span of a call within the current trace, or else that of its metadata. Never starts a trace. */
export function openTracedCall(
  tracer: Tracing,
  service: string,
  method: string,
  options: CallOptions | undefined,
): TracedCall | undefined {
  const { metadata } = options ?? {};
  // The current span is a closer parent than the one in the metadata.
  const current = tracer.current();
  if (current === undefined && metadata?.['traceparent'] === undefined) return undefined;
  const start = spanStartOf('client', service, method, current === undefined ? metadata : undefined);
  const span = tracer.start(`${service}/${method}`, start);
  return { span, options: { ...options, metadata: { ...metadata, ...span.headers } } };
}

/** The span of a handler. */
export interface ServerSpan {
  readonly span: Span;
  /** The context for the handler. */
  readonly context: CallContext;
  run<Result>(work: () => Result): Result;
}

/** Starts the server span of a call that belongs to a trace. */
export function openServerSpan(
  service: string,
  method: string,
  context: CallContext,
): ServerSpan | undefined {
  const tracer = tracing();
  if (tracer === undefined || context.metadata['traceparent'] === undefined) return undefined;
  const span = tracer.start(`${service}/${method}`, spanStartOf('server', service, method, context.metadata));
  return {
    span,
    context: new TracedContext(context, span),
    run: (work) => tracer.run(span, work),
  };
}

/** Runs the handler of a unary call in its span. */
export function invokeInSpan(
  { span, context, run }: ServerSpan,
  invoke: (context: CallContext) => Promise<unknown>,
): Promise<unknown> {
  const work = async (): Promise<unknown> => invoke(context);
  return endWith(span, run(work));
}

/** A context whose metadata has the handler's span as the parent, for calls and events that it makes. */
class TracedContext implements CallContext {
  readonly metadata: CallMetadata;

  constructor(
    private readonly context: CallContext,
    span: Span,
  ) {
    this.metadata = { ...context.metadata, ...span.headers };
  }

  get signal(): CancelSignal {
    return this.context.signal;
  }

  get deadlineUnixMs(): number | undefined {
    return this.context.deadlineUnixMs;
  }

  get actor(): CallActor | undefined {
    return this.context.actor;
  }
}
