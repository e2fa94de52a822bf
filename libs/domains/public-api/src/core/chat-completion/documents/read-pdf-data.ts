import { readImageSource, validBase64, type Base64 } from '../images/data-uri';
import { optional, text, type OptionalMember, type ReadText } from '../schema/shape';

const PDF_TYPE = 'application/pdf';
const PDF_HEAD = `data:${PDF_TYPE};base64,`;

/** The data URI of a document to forward, without white space in its data. */
export function readPdfData(uri: string): ReadText {
  const source = readImageSource(uri);
  if (source.kind === 'remote') return { problem: 'links are not supported. Send the document as base64.' };
  if (source.kind === 'invalid') return { problem: source.problem };
  if (source.label !== PDF_TYPE) return { problem: `the document must be ${PDF_TYPE}.` };
  const base64 = validBase64(source.base64);
  return base64 ? { text: base64.after(PDF_HEAD) } : { problem: 'the data is not valid base64.' };
}

/** A document as the base64 of a PDF, in a `data:` URI. */
export const pdfData = text({ read: readPdfData, checkPattern: `^${PDF_HEAD}` });

/** Providers require a name. */
export const DOCUMENT_NAME = 'document.pdf';

export const fileName: OptionalMember = optional(
  text({ minLength: 1, maxLength: 256 }),
  'The name of the document, which the model may read.',
  `\`${DOCUMENT_NAME}\``,
  { absentIs: DOCUMENT_NAME },
);

/** The bytes of a document whose data URI was read. */
export function pdfBytes(uri: string): Uint8Array {
  const source = readImageSource(uri);
  if (source.kind !== 'inline') throw new Error('the document was not checked');
  const base64: Base64 = source.base64;
  return base64.read(0, base64.byteLength);
}
