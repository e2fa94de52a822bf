import { Client } from 'pg';

/**
 * A client that prepares no statement for later: behind a pooler the next
 * transaction may run on another connection, which does not know its name, or
 * knows it for another's.
 */
export class UnnamedStatements extends Client {
  // `query` has a dozen overloads, all of which begin with the statement.
  override query(statement: unknown, ...rest: unknown[]): never {
    const asked = hasName(statement) ? { ...statement, name: undefined } : statement;
    return (super.query as (...all: unknown[]) => never).call(this, asked, ...rest);
  }
}

/** Not one that runs itself, such as a cursor. */
function hasName(statement: unknown): statement is { readonly name: unknown } {
  return (
    typeof statement === 'object' && statement !== null && 'name' in statement && !('submit' in statement)
  );
}
