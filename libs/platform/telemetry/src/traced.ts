import { tracing, type Span, type SpanStart } from './tracing';

/** Runs `work` as a span of the current trace; without one, or while tracing is off, only runs it. */
export function traced<Result>(name: string, start: SpanStart, work: () => Promise<Result>): Promise<Result> {
  const tracer = tracing();
  if (tracer?.current() === undefined) return work();
  const span = tracer.start(name, start);
  return endWith(span, tracer.run(span, work));
}

/** Ends the span with what it is the span of. */
export function endWith<Result>(span: Span, work: Promise<Result>): Promise<Result> {
  return work.then(
    (result) => {
      span.end();
      return result;
    },
    (error: unknown) => {
      span.end(failureOf(error));
      throw error;
    },
  );
}

/** The code of an error, or else its class: both are of closed sets, where its text may hold anything. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && code !== '' ? code : error.name;
}
