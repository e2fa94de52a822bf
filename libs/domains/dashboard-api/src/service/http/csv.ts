import type { Response } from 'express';

/** A value as a field of a CSV file. What a spreadsheet would take for a formula is kept from being one. */
function csvField(value: string | number | null): string {
  if (value === null) return '';
  const text = String(value);
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const harmless = !isNumber && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export type CsvRow = readonly (string | number | null)[];

/**
 * Sends a file piece by piece, as fast as it is read. The first piece is made
 * before anything is sent, so that what it is refused with is still an answer.
 */
export async function sendCsv(
  response: Response,
  filename: string,
  header: CsvRow,
  pieces: AsyncIterable<readonly CsvRow[]>,
): Promise<undefined> {
  const lines = (rows: readonly CsvRow[]) => rows.map((row) => `${row.map(csvField).join(',')}\r\n`).join('');
  const iterator = pieces[Symbol.asyncIterator]();
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

/** Also when nobody is there any more to read on. */
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
