import { ApiError } from '@gateway/dashboard-contract/client';

/** Whether trying again may help: nothing was refused. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'unreachable' || error.code === 'unavailable');
}

/**
 * What a page shows in place of what it is about. A failure that passes takes
 * nothing away that is there already, such as a form that somebody fills in.
 */
export function failureOf({ error, data }: { readonly error: unknown; readonly data: unknown }): unknown {
  return data !== undefined && isPassing(error) ? null : error;
}
