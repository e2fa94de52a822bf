import { GatewayError } from '@gateway/errors';
import type { PageRequest } from './ports';
import { isIdLike } from './text-rules';

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** A page token is the last id of the previous page. Lists are ordered by id, so new items do not invalidate it. */
export async function readPage<Item extends { readonly id: string }>(
  size: number,
  pageToken: string,
  list: (page: PageRequest) => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  if (pageToken !== '' && !isIdLike(pageToken)) {
    throw new GatewayError('invalid_request', {
      message: 'page_token is not a token returned by a list call.',
      param: 'page_token',
    });
  }
  const found = await list({ size: size + 1, ...(pageToken === '' ? {} : { after: pageToken }) });
  const items = found.slice(0, size);
  return { items, nextPageToken: found.length > size ? (items.at(-1)?.id ?? '') : '' };
}

/** The total of a list, which is counted for its first page only. */
export async function onFirstPage(
  { page_token: pageToken }: { readonly page_token: string },
  count: () => Promise<number>,
): Promise<{ readonly total?: number }> {
  return pageToken === '' ? { total: await count() } : {};
}
