import { retry } from '@gateway/base';
import { isTransientDatabaseError } from '@gateway/database';
import { InvalidEventError } from '@gateway/events';
import { LedgerUnavailableError, UnbookableError } from '../../core/ports';

const MAX_ATTEMPTS = 6;
const BACKOFF = { firstMs: 8, maxMs: 250 };
/** With a database that does not respond, each attempt takes seconds, and the caller has given up. */
const MAX_MS = 10_000;

/** Two concurrent batches inserted the same id; the retry finds the stored row. */
const UNIQUE_VIOLATION = '23505';

/**
 * Runs idempotent work and retries it after a conflict or a lost connection,
 * also one that was lost during commit.
 */
export async function withRetries<Result>(work: () => Promise<Result>): Promise<Result> {
  const startedMs = performance.now();
  let attempts = 0;
  const attempt = (): Promise<Result> => {
    attempts += 1;
    return work();
  };
  try {
    return await retry(attempt, {
      backoff: BACKOFF,
      maxAttempts: MAX_ATTEMPTS,
      isRetryable: (error) => isRetryable(error) && performance.now() - startedMs < MAX_MS,
    });
  } catch (error) {
    if (isRetryable(error)) {
      const message = `failed after ${attempts} attempts: ${textOf(error)}`;
      throw new LedgerUnavailableError(message, { cause: error });
    }
    throw isDataError(error) ? new UnbookableError(textOf(error), { cause: error }) : error;
  }
}

function isRetryable(error: unknown): boolean {
  return isTransientDatabaseError(error) || isUniqueViolation(error);
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === UNIQUE_VIOLATION;
}

/**
 * Data exceptions (class 22) and constraint violations (class 23) are errors in
 * the batch, not in the server. So is an announcement that the event log refuses.
 */
function isDataError(error: unknown): boolean {
  return error instanceof InvalidEventError || /^2[23]/.test(sqlStateOf(error) ?? '');
}

function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
