import type { CallActor } from '@gateway/actors';
import type { CancelSignal } from '@gateway/base';
import { endWith, failureOf, tracing, type Span, type SpanStart, type Tracing } from '@gateway/telemetry';
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

/** Ends the span with the stream: at its last message, a failure, or when the reader closes it. */
export class TracedStream implements AsyncIterableIterator<unknown> {
  private span: Span | undefined;

  constructor(
    span: Span,
    private readonly messages: AsyncIterableIterator<unknown>,
  ) {
    this.span = span;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.messages.next().then(
      (result) => {
        if (result.done) this.end();
        return result;
      },
      (error: unknown) => {
        this.end(failureOf(error));
        throw error;
      },
    );
  }

  return(): Promise<IteratorResult<unknown>> {
    this.end('cancelled');
    return this.messages.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  private end(failure?: string): void {
    this.span?.end(failure);
    this.span = undefined;
  }
}

type Invoke = (context: CallContext) => unknown;

/** Runs a handler in a server span. */
export function invokeTraced(
  tracer: Tracing,
  {
    service,
    method,
    streams,
  }: { readonly service: string; readonly method: string; readonly streams: boolean },
  context: CallContext,
  invoke: Invoke,
): unknown {
  const span = tracer.start(`${service}/${method}`, spanStartOf('server', service, method, context.metadata));
  const seen = new TracedContext(context, span);
  try {
    const result = tracer.run(span, () => invoke(seen));
    if (!streams) return endWith(span, result as Promise<unknown>);
    const messages = (result as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    return new TracedStream(span, inSpan(tracer, span, messages));
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
}

/** A streaming handler runs in its reader's async context, so each step must enter the span. */
function inSpan(
  tracer: Tracing,
  span: Span,
  messages: AsyncIterator<unknown>,
): AsyncIterableIterator<unknown> {
  const iterator: AsyncIterableIterator<unknown> = {
    [Symbol.asyncIterator]: () => iterator,
    next: () => tracer.run(span, () => messages.next()),
    return: () =>
      tracer.run(span, () => messages.return?.() ?? Promise.resolve({ done: true, value: undefined })),
  };
  return iterator;
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
