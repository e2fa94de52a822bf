import type { Response } from 'express';

/**
 * Formats a CSV field. Text that a spreadsheet would evaluate as a formula is prefixed with an
 * apostrophe.
 */
function csvField(value: string | number | null): string {
  if (value === null) return '';
  const text = String(value);
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const harmless = !isNumber && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export type CsvRow = readonly (string | number | null)[];

/**
 * Streams a file in chunks, with backpressure. The first chunk is produced before the headers are sent,
 * so that its errors become error responses.
 */
export async function sendCsv(
  response: Response,
  filename: string,
  header: CsvRow,
  chunks: AsyncIterable<readonly CsvRow[]>,
): Promise<undefined> {
  const lines = (rows: readonly CsvRow[]) => rows.map((row) => `${row.map(csvField).join(',')}\r\n`).join('');
  const iterator = chunks[Symbol.asyncIterator]();
  let next = await iterator.next();
  response.status(200);
  response.setHeader('content-type', 'text/csv; charset=utf-8');
  response.setHeader('content-disposition', `attachment; filename="${filename}"`);
  response.write(lines([header]));
  for (; !next.done; next = await iterator.next()) {
    if (response.destroyed) return undefined;
    if (next.value.length > 0 && !response.write(lines(next.value))) await drained(response);
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
