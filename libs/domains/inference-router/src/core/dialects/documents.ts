import { asObject } from '../completion/json';

export const PDF_TYPE = 'application/pdf';
const HEAD = `data:${PDF_TYPE};base64,`;

export interface PdfDocument {
  readonly name: string;
  /** In base64. */
  readonly data: string;
}

/** The document of a `file` part; undefined for a file that is not inlined. */
export function readDocument(file: unknown): PdfDocument | undefined {
  const { file_data: uri, filename } = asObject(file) ?? {};
  if (typeof uri !== 'string' || !uri.startsWith(HEAD)) return undefined;
  return { name: typeof filename === 'string' ? filename : 'document.pdf', data: uri.slice(HEAD.length) };
}
