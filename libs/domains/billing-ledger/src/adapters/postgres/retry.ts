import { retry } from '@gateway/base';
import { isTransientDatabaseError } from '@gateway/database';
import { InvalidEventError } from '@gateway/events';
import { LedgerUnavailableError, UnbookableError } from '../../core/ports';

const MAX_ATTEMPTS = 6;
const BACKOFF = { firstMs: 8, maxMs: 250 };

/** Two batches inserted one id at once; the loser finds it there the next time. */
const UNIQUE_VIOLATION = '23505';

/**
 * Runs a piece of work that is safe to repeat, again when it lost to another
 * or the connection did. That includes a connection lost during commit: the
 * repetition finds what was done.
 */
export async function withRetries<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await retry(work, { backoff: BACKOFF, maxAttempts: MAX_ATTEMPTS, isRetryable });
  } catch (error) {
    if (isRetryable(error)) {
      const message = `gave up after ${MAX_ATTEMPTS} attempts: ${textOf(error)}`;
      throw new LedgerUnavailableError(message, { cause: error });
    }
    throw isDataFault(error) ? new UnbookableError(textOf(error), { cause: error }) : error;
  }
}

function isRetryable(error: unknown): boolean {
  return isTransientDatabaseError(error) || sqlStateOf(error) === UNIQUE_VIOLATION;
}

/**
 * Data exceptions (class 22) and constraint violations (class 23) lie in the
 * batch, not in the server; so does an announcement that the event log refuses.
 */
function isDataFault(error: unknown): boolean {
  return error instanceof InvalidEventError || /^2[23]/.test(sqlStateOf(error) ?? '');
}

function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
