/** What a span is at its end of a call, as OpenTelemetry names it. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** Names as in OpenTelemetry's semantic conventions. Never a prompt, an answer, a key or a value of a statement. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The headers of W3C Trace Context. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export interface SpanStart {
  readonly kind: SpanKind;
  /** Whose child it is: of headers that came from elsewhere, or of nobody. Absent: of the span that is current. */
  readonly parent?: Partial<TraceHeaders> | 'none';
  /** Spans that it has to do with and is not a child of. */
  readonly links?: readonly Span[];
  readonly attributes?: SpanAttributes;
  /** In Unix milliseconds; now when absent. */
  readonly startedAtMs?: number;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether it is recorded. One that is not still carries its trace on. */
  readonly isSampled: boolean;
  /** What its children elsewhere are to be told. */
  readonly headers: TraceHeaders;
  set(attributes: SpanAttributes): void;
  /** @param failure the kind of what went wrong, from a closed set such as an error code; absent when nothing did. */
  end(failure?: string): void;
}

/** Records what a process does for a trace. */
export interface Tracing {
  start(name: string, start: SpanStart): Span;
  /** The span that what runs now belongs to, across awaits. */
  current(): Span | undefined;
  /** Runs `work`, and what it awaits, for that span; for none when undefined. */
  run<Result>(span: Span | undefined, work: () => Result): Result;
}

let installed: Tracing | undefined;

/**
 * The tracing of this process, or undefined when it is off. As in OpenTelemetry's
 * own API it is one for the process, since a span crosses every library between a
 * socket and a statement. What is traced asks this first and does nothing else
 * while it is off.
 */
export function tracing(): Tracing | undefined {
  return installed;
}

/** Turns it on, or off again; for the start of a process, and tests. */
export function installTracing(tracing: Tracing | undefined): void {
  installed = tracing;
}
