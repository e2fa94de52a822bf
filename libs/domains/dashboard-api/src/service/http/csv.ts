import type { Response } from 'express';

type CsvValue = string | number | boolean | null;

/** The columns of a file by their headings. */
export type CsvColumns<Item> = Readonly<Record<string, (item: Item) => CsvValue>>;

/** The fields of these names, as columns. */
export function csvFields<Name extends string>(...names: readonly Name[]) {
  type Item = Readonly<Record<Name, CsvValue>>;
  return Object.fromEntries(names.map((name) => [name, (item: Item) => item[name]])) as CsvColumns<Item>;
}

/**
 * Formats a CSV field. Text that a spreadsheet would evaluate as a formula is prefixed with an
 * apostrophe.
 */
function csvField(value: CsvValue): string {
  if (value === null) return '';
  const text = String(value);
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const harmless = !isNumber && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/**
 * Streams a file in chunks, with backpressure. The first chunk is produced before the headers are sent,
 * so that its errors become error responses.
 */
export async function sendCsv<Item>(
  response: Response,
  filename: string,
  columns: CsvColumns<Item>,
  chunks: AsyncIterable<readonly Item[]>,
): Promise<undefined> {
  const line = (values: readonly CsvValue[]) => `${values.map(csvField).join(',')}\r\n`;
  const readers = Object.values(columns);
  const lineOf = (item: Item) => line(readers.map((read) => read(item)));
  const iterator = chunks[Symbol.asyncIterator]();
  let next = await iterator.next();
  response.status(200);
  response.setHeader('content-type', 'text/csv; charset=utf-8');
  response.setHeader('content-disposition', `attachment; filename="${filename}"`);
  response.write(line(Object.keys(columns)));
  for (; !next.done; next = await iterator.next()) {
    if (response.destroyed) return undefined;
    if (next.value.length > 0 && !response.write(next.value.map(lineOf).join(''))) await drained(response);
  }
  response.end();
  return undefined;
}

/** Resolves on `drain`, or when the client disconnects. */
function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (response.destroyed) done();
  });
}
