const READ_ONLY_SQL_TRANSACTION = '25006';

/** A server that accepts no writes, where one is required: a standby, or a primary that was demoted. */
export class ServerReadOnlyError extends Error {
  override readonly name = 'ServerReadOnlyError';
  readonly code = READ_ONLY_SQL_TRANSACTION;

  constructor() {
    super('the database server is read-only');
  }
}

/** The process closed a connection that was of no more use. The outcome of its statement is unknown. */
export class ConnectionDroppedError extends Error {
  override readonly name = 'ConnectionDroppedError';
  readonly code = 'ECONNABORTED';
}

/** Whether a statement failed because its server is read-only. */
export function isServerReadOnly(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === READ_ONLY_SQL_TRANSACTION;
}
