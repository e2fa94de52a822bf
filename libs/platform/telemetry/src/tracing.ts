/** The kinds of spans in OpenTelemetry. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** Names from OpenTelemetry's semantic conventions. Never contains prompts, responses, keys or values of SQL statements. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The headers of W3C Trace Context. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export interface SpanStart {
  readonly kind: SpanKind;
  /** The parent: the headers of a caller, or none. Absent: the current span. */
  readonly parent?: Partial<TraceHeaders> | 'none';
  /** Related spans that are not its parent. */
  readonly links?: readonly Span[];
  readonly attributes?: SpanAttributes;
  /** In Unix milliseconds. Absent: now. */
  readonly startedAtMs?: number;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether it is recorded. An unsampled span still propagates its trace. */
  readonly isSampled: boolean;
  /** The headers for calls to other processes. */
  readonly headers: TraceHeaders;
  set(attributes: SpanAttributes): void;
  /** @param failure the kind of failure, from a closed set such as error codes; absent on success. */
  end(failure?: string): void;
}

/** Creates the spans of a process. */
export interface Tracing {
  start(name: string, start: SpanStart): Span;
  /** The current span, across awaits. */
  current(): Span | undefined;
  /** Runs `work`, including its awaits, with that span as the current one; undefined: without a span. */
  run<Result>(span: Span | undefined, work: () => Result): Result;
}

let installed: Tracing | undefined;

/**
 * The tracing of this process, or undefined while it is off. As in OpenTelemetry's
 * own API it is a global of the process, since a trace crosses every library
 * between a socket and a database.
 */
export function tracing(): Tracing | undefined {
  return installed;
}

/** Turns tracing on or off; for the start of a process, and for tests. */
export function installTracing(tracing: Tracing | undefined): void {
  installed = tracing;
}
