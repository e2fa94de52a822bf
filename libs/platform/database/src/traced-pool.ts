import { failureOf, tracing, type SpanStart } from '@gateway/telemetry';
import { DatabasePool } from './database-pool';

/** The span of a statement, with its name but without its values. */
export function statementSpan(name: string | undefined): SpanStart {
  return {
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', ...(name !== undefined && { 'db.query.summary': name }) },
  };
}

/**
 * A pool with a span for each statement, from acquiring a connection to the
 * result. A transaction has one span for all its statements; see `inTransaction`.
 */
export class TracedPool extends DatabasePool {
  // `query` has a dozen overloads, which all start with the statement.
  override query(statement: unknown, ...rest: unknown[]): never {
    const send = (): unknown =>
      (super.query as (...all: unknown[]) => unknown).call(this, statement, ...rest);
    const tracer = tracing();
    if (tracer?.current() === undefined) return send() as never;
    const span = tracer.start('postgresql', statementSpan(summaryOf(statement)));
    const result = send();
    if (result instanceof Promise) {
      result.then(
        () => span.end(),
        (error: unknown) => span.end(failureOf(error)),
      );
    } else span.end();
    return result as never;
  }
}

/** A statement's name, or its first word, such as "select". */
function summaryOf(statement: unknown): string | undefined {
  const { name, text } =
    typeof statement === 'string'
      ? { name: undefined, text: statement }
      : (statement as { readonly name?: unknown; readonly text?: unknown });
  if (typeof name === 'string') return name;
  return typeof text === 'string' ? /^\s*([a-z]+)/i.exec(text)?.[1]?.toLowerCase() : undefined;
}
