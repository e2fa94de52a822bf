/** The largest page of a list. */
export const CSV_PAGE_SIZE = '200';

interface ListPage<Item> {
  readonly data: readonly Item[];
  readonly next_page_token: string | null;
}

/** The pages of a list, one after the other. */
export async function* csvPages<Item>(
  readPage: (pageToken: string) => Promise<ListPage<Item>>,
): AsyncGenerator<readonly Item[]> {
  for (let pageToken: string | null = ''; pageToken !== null;) {
    const page: ListPage<Item> = await readPage(pageToken);
    yield page.data;
    pageToken = page.next_page_token;
  }
}
