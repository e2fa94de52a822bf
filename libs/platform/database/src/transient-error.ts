import { GatewayError } from '@gateway/errors';

const TRANSIENT_SQLSTATES = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '53100', // disk_full
  '53200', // out_of_memory
  '53300', // too_many_connections
  '53400', // configuration_limit_exceeded
  '55000', // object_not_in_prerequisite_state: a database that accepts no connections, a partition that is being detached
  '55P03', // lock_not_available
  '57014', // query_canceled, by a statement timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '58030', // io_error
  '25006', // read_only_sql_transaction, while a standby takes over
  '25P03', // idle_in_transaction_session_timeout
]);

const TRANSIENT_NODE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * Prisma: server unreachable, timed out, connection closed, pool exhausted, transaction not started or not ended in
 * time, write conflict, too many connections.
 */
const TRANSIENT_PRISMA_CODES = new Set([
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037'],
]);

/** Failures that the driver reports only by their text. */
const TRANSIENT_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Client has encountered a connection error',
  'Query read timeout',
];

const MAX_CAUSES = 5;

/**
 * Whether a retry may succeed: the server is unavailable, restarting or out of
 * resources, or the transaction had a conflict. If the connection was lost during
 * COMMIT, the work may have been done.
 */
export function isTransientDatabaseError(error: unknown): boolean {
  // Checks the shape, not the class: errors also come from other realms and bundled copies of a driver.
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && isErrorLike(current); depth += 1) {
    const code = codeOf(current);
    if (code !== undefined && isTransientCode(code)) return true;
    const { message } = current;
    if (TRANSIENT_MESSAGES.some((text) => message.startsWith(text))) return true;
    if (Array.isArray(current.errors) && current.errors.some(isTransientDatabaseError)) return true;
    current = current.cause ?? current.meta?.driverAdapterError;
  }
  return false;
}

/** Whether it is a transient error of the database that is not yet mapped to a GatewayError. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return !(error instanceof GatewayError) && isTransientDatabaseError(error);
}

interface ErrorLike {
  readonly message: string;
  readonly cause?: unknown;
  /** Prisma's field for the driver's error, if Prisma does not map its code. */
  readonly meta?: { readonly driverAdapterError?: unknown } | null;
  /** The errors of an AggregateError, for example when several addresses of a host refuse. */
  readonly errors?: unknown;
}

function isErrorLike(value: unknown): value is ErrorLike {
  return (
    typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string'
  );
}

/** Whether the server rolled back the transaction because of a conflict with another. */
export function isTransactionConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

function isTransientCode(code: string): boolean {
  return (
    TRANSIENT_SQLSTATES.has(code) ||
    /^08...$/.test(code) || // connection exceptions
    TRANSIENT_NODE_CODES.has(code) ||
    TRANSIENT_PRISMA_CODES.has(code)
  );
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
