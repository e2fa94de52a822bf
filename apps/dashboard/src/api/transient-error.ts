import { ApiError } from '@gateway/dashboard-contract/client';

/** How often a failed query is repeated, so that a page recovers without a reload. */
export const RECOVERY_INTERVAL_MS = 5_000;

/** Whether a retry may help. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'unreachable' || error.code === 'unavailable');
}

/**
 * The error to show in place of the page's content; null while a transient error leaves existing
 * content, such as a form, in place.
 */
export function blockingErrorOf({
  error,
  data,
}: {
  readonly error: unknown;
  readonly data: unknown;
}): unknown {
  return data !== undefined && isTransient(error) ? null : error;
}
