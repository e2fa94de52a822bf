import {
  decodePDFRawStream,
  PDFArray,
  PDFDict,
  PDFName,
  PDFRawStream,
  type PDFContext,
  type PDFObject,
} from '@cantoo/pdf-lib';

const CONTENTS = PDFName.of('Contents');
const SUBTYPE = PDFName.of('Subtype');
const FORM = PDFName.of('Form');
const TO_UNICODE = PDFName.of('ToUnicode');

/**
 * About the most characters that a reader finds in a document: the texts that its pages and forms show, each code as the
 * longest text that a font of the document has for a code. Drawings and images have none.
 */
export function charactersOf(context: PDFContext, pages: readonly PDFDict[]): number {
  const shown = new Map<PDFRawStream, number>();
  const textOf = (object: unknown): number => {
    if (!(object instanceof PDFRawStream)) return 0;
    const known = shown.get(object);
    if (known !== undefined) return known;
    const bytes = textBytes(decodePDFRawStream(object).decode());
    shown.set(object, bytes);
    return bytes;
  };

  let bytes = 0;
  for (const page of pages) {
    const contents = page.lookup(CONTENTS);
    const streams = contents instanceof PDFArray ? contents.asArray() : [contents];
    for (const stream of streams) bytes += textOf(context.lookup(stream));
  }
  const maps = new Set<PDFRawStream>();
  for (const [, object] of context.enumerateIndirectObjects()) {
    for (const dict of dictsIn(object)) {
      const map = dict.lookup(TO_UNICODE);
      if (map instanceof PDFRawStream) maps.add(map);
    }
    if (object instanceof PDFRawStream && object.dict.lookup(SUBTYPE) === FORM) bytes += textOf(object);
  }
  // Fonts share maps.
  let longest = 1;
  for (const map of maps) longest = Math.max(longest, longestText(decodePDFRawStream(map).decode()));
  return bytes * longest;
}

/** The dictionaries of an object, without those that it refers to. */
function* dictsIn(object: PDFObject): Generator<PDFDict> {
  const pending: unknown[] = [object];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next instanceof PDFRawStream) pending.push(next.dict);
    else if (next instanceof PDFArray) pending.push(...next.asArray());
    else if (next instanceof PDFDict) {
      yield next;
      pending.push(...next.values());
    }
  }
}

const [OPEN, CLOSE, ESCAPE, LESS, GREATER] = [...Buffer.from('()\\<>')] as [
  number,
  number,
  number,
  number,
  number,
];

/** The bytes of the strings in a content stream: `(text)` and `<hexadecimal>`. */
function textBytes(content: Uint8Array): number {
  let bytes = 0;
  for (let at = 0; at < content.length; at += 1) {
    if (content[at] === OPEN) {
      let depth = 1;
      for (at += 1; at < content.length && depth > 0; at += 1) {
        if (content[at] === ESCAPE) at += 1;
        else if (content[at] === OPEN) depth += 1;
        else if (content[at] === CLOSE) depth -= 1;
        if (depth > 0) bytes += 1;
      }
      at -= 1;
    } else if (content[at] === LESS && content[at + 1] === LESS) {
      // A dictionary.
      at += 1;
    } else if (content[at] === LESS) {
      const end = content.indexOf(GREATER, at);
      const last = end === -1 ? content.length : end;
      bytes += Math.ceil((last - at - 1) / 2);
      at = last;
    }
  }
  return bytes;
}

/** The characters of the longest hexadecimal text of a map, in UTF-16. */
function longestText(map: Uint8Array): number {
  let longest = 1;
  for (const [, hex = ''] of Buffer.from(map)
    .toString('latin1')
    .matchAll(/<([\da-fA-F\s]*)>/g))
    longest = Math.max(longest, Math.ceil(hex.replace(/\s/g, '').length / 4));
  return longest;
}
