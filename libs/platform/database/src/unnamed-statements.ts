import { Client } from 'pg';

/**
 * A client without named prepared statements: behind a pooler, the next
 * transaction may run on another connection, where the name is unknown or belongs
 * to another statement.
 */
export class UnnamedStatements extends Client {
  // `query` has a dozen overloads, which all start with the statement.
  override query(statement: unknown, ...rest: unknown[]): never {
    const unnamed = hasName(statement) ? { ...statement, name: undefined } : statement;
    return (super.query as (...all: unknown[]) => never).call(this, unnamed, ...rest);
  }
}

/** False for statements that submit themselves, such as cursors. */
function hasName(statement: unknown): statement is { readonly name: unknown } {
  return (
    typeof statement === 'object' && statement !== null && 'name' in statement && !('submit' in statement)
  );
}
