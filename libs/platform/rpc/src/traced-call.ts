import type { CancelSignal } from '@gateway/base';
import { endWith, failureOf, tracing, type Span, type SpanStart, type Tracing } from '@gateway/telemetry';
import type { CallContext, CallMetadata, CallOptions } from './definition';

/** What a span says of its call, in OpenTelemetry's terms. */
function startOf(
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

/** The trace that a call says it is of, while traces are recorded. */
export function traceOfCall({
  traceparent,
}: CallMetadata): { readonly traceId: string; readonly isSampled: boolean } | undefined {
  if (traceparent === undefined || tracing() === undefined) return undefined;
  const [, traceId, flags = ''] = TRACEPARENT.exec(traceparent) ?? [];
  return traceId === undefined ? undefined : { traceId, isSampled: (parseInt(flags, 16) & 1) === 1 };
}

export interface TracedCall {
  readonly span: Span;
  /** As the caller gave them, with the span as what the other side is called from. */
  readonly options: CallOptions;
}

/**
 * The caller's span, where its call belongs to a trace: that of its metadata, or
 * else the current one. A call that belongs to none begins none.
 */
export function openTracedCall(
  tracer: Tracing,
  service: string,
  method: string,
  options: CallOptions | undefined,
): TracedCall | undefined {
  const { metadata } = options ?? {};
  // What is under way here is nearer than what the caller's caller said.
  const current = tracer.current();
  if (current === undefined && metadata?.['traceparent'] === undefined) return undefined;
  const start = startOf('client', service, method, current === undefined ? metadata : undefined);
  const span = tracer.start(`${service}/${method}`, start);
  return { span, options: { ...options, metadata: { ...metadata, ...span.headers } } };
}

/** Ends the span with the last message, a failure, or the reader's leaving. */
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

/** Runs a handler as the server's side of a call that belongs to a trace. */
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
  const span = tracer.start(`${service}/${method}`, startOf('server', service, method, context.metadata));
  const seen = new TracedContext(context, span);
  try {
    const answer = tracer.run(span, () => invoke(seen));
    if (!streams) return endWith(span, answer as Promise<unknown>);
    const messages = (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    return new TracedStream(span, inSpan(tracer, span, messages));
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
}

/** A handler that streams runs only while it is read, on the reader's side of the trace but for this. */
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

/** What the handler passes on, such as with an event, is a child of its own span. */
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
}
