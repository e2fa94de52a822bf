import { formatUsd, nanoUsd, type UnixMs } from '@gateway/base';
import { DashboardError } from '@gateway/dashboard-contract';

/** Shared by the views of all owners. Amounts are decimal strings of US dollars. */

export function usd(amountNanoUsd: bigint): string {
  return formatUsd(nanoUsd(amountNanoUsd));
}

export function usdOrNull(amountNanoUsd: bigint | undefined): string | null {
  return amountNanoUsd === undefined ? null : usd(amountNanoUsd);
}

export function isoTime(unixMs: bigint | number): string {
  return new Date(Number(unixMs)).toISOString();
}

export function timeOrNull(unixMs: bigint | number | undefined): string | null {
  return unixMs === undefined ? null : isoTime(unixMs);
}

/**
 * The time that a parameter names.
 * @throws DashboardError `invalid` for a time before 1970.
 */
export function timeIn(param: string, time: string): UnixMs {
  const unixMs = Date.parse(time);
  if (unixMs >= 0) return unixMs as UnixMs;
  throw new DashboardError('invalid', { message: `${param} must be a time from 1970 to 9999.`, param });
}

/** The page requested from a list. */
export function pageRequest(query: { readonly page_size: number; readonly page_token: string }) {
  return { pageSize: query.page_size, pageToken: query.page_token };
}

/** One page of a list. */
export function pageView<Item>(data: readonly Item[], nextPageToken: string) {
  return { data, next_page_token: nextPageToken === '' ? null : nextPageToken };
}
