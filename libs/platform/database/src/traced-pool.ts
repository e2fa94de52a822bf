import { failureOf, tracing, type SpanStart } from '@gateway/telemetry';
import { Pool } from 'pg';

/** What a span says of statements: what they are called, never what they hold. */
export function statementSpan(name: string | undefined): SpanStart {
  return {
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', ...(name !== undefined && { 'db.query.summary': name }) },
  };
}

/**
 * A pool whose own statements are spans, from asking for a connection to the
 * answer. Those of a transaction are one together, see `inTransaction`.
 */
export class TracedPool extends Pool {
  // `query` has a dozen overloads, all of which begin with the statement.
  override query(statement: unknown, ...rest: unknown[]): never {
    const ask = (): unknown => (super.query as (...all: unknown[]) => unknown).call(this, statement, ...rest);
    const tracer = tracing();
    if (tracer?.current() === undefined) return ask() as never;
    const span = tracer.start('postgresql', statementSpan(summaryOf(statement)));
    const answer = ask();
    if (answer instanceof Promise) {
      answer.then(
        () => span.end(),
        (error: unknown) => span.end(failureOf(error)),
      );
    } else span.end();
    return answer as never;
  }
}

/** A statement's name, or what it begins with, such as "select". */
function summaryOf(statement: unknown): string | undefined {
  const { name, text } =
    typeof statement === 'string'
      ? { name: undefined, text: statement }
      : (statement as { readonly name?: unknown; readonly text?: unknown });
  if (typeof name === 'string') return name;
  return typeof text === 'string' ? /^\s*([a-z]+)/i.exec(text)?.[1]?.toLowerCase() : undefined;
}
