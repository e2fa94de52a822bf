import { ApiError } from '@gateway/dashboard-contract/client';

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
