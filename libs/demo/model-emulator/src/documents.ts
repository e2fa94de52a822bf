import { badRequest } from './errors';

/** As vendors document for a page with little text. */
const TOKENS_PER_PAGE = 1_500;

/** A document as a part of a prompt. */
export interface ReadDocument {
  readonly pages: number;
  /** Identifies it. */
  readonly text: string;
  readonly tokens: number;
}

/** Reads a PDF document. Throws a 400 that names `param` otherwise. */
export function readDocument(mediaType: unknown, base64: unknown, param: string): ReadDocument {
  const bytes = Buffer.from(typeof base64 === 'string' ? base64 : '', 'base64').toString('latin1');
  if (mediaType !== 'application/pdf' || !bytes.startsWith('%PDF-') || !bytes.trimEnd().endsWith('%%EOF')) {
    throw badRequest('The PDF specified was not valid.', param, 'invalid_value');
  }
  // Compressed objects are not read.
  const pages = Math.max(1, bytes.match(/\/Type\s*\/Page\b/g)?.length ?? 0);
  return { pages, text: `<document of ${pages} pages>`, tokens: pages * TOKENS_PER_PAGE };
}
