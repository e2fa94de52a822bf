import type { CsvRow } from './csv';

/** The largest page of a list. */
export const CSV_PAGE_SIZE = '200';

/** The columns of a file by their headings. */
export type CsvColumns<Item> = Readonly<Record<string, (item: Item) => string | number | boolean | null>>;

interface ListPage<Item> {
  readonly data: readonly Item[];
  readonly next_page_token: string | null;
}

/** The fields of these names, as columns. */
export function csvFields<Name extends string>(...names: readonly Name[]) {
  type Item = Readonly<Record<Name, string | number | boolean | null>>;
  return Object.fromEntries(names.map((name) => [name, (item: Item) => item[name]])) as CsvColumns<Item>;
}

/** The pages of a list, one after the other, as rows. */
export async function* csvPages<Item>(
  columns: CsvColumns<Item>,
  readPage: (pageToken: string) => Promise<ListPage<Item>>,
): AsyncGenerator<readonly CsvRow[]> {
  for (let pageToken: string | null = ''; pageToken !== null;) {
    const page: ListPage<Item> = await readPage(pageToken);
    yield page.data.map((item) =>
      Object.values(columns).map((valueOf) => {
        const value = valueOf(item);
        return typeof value === 'boolean' ? String(value) : value;
      }),
    );
    pageToken = page.next_page_token;
  }
}
