import { tracing, type Span, type SpanStart } from './tracing';

/** Runs `work` in a span of the current trace, or without a span if there is no trace. */
export function traced<Result>(name: string, start: SpanStart, work: () => Promise<Result>): Promise<Result> {
  const tracer = tracing();
  if (tracer?.current() === undefined) return work();
  const span = tracer.start(name, start);
  return endWith(span, tracer.run(span, work));
}

/** Ends the span when `work` settles. */
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

/** The code of an error, or else its class. Both are closed sets, whereas its text may contain anything. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && code !== '' ? code : error.name;
}
