import {
  decodePDFRawStream,
  PDFArray,
  PDFContext,
  PDFDict,
  PDFName,
  PDFNumber,
  PDFParser,
  PDFRawStream,
  PDFRef,
} from '@cantoo/pdf-lib';
import type { DocumentSize } from '@gateway/public-api';
import { charactersOf } from './document-text';

/** Readers look for the header at the start, and for the end mark at the end, in this many bytes. */
const MARK_BYTES = 1_024;
/** The size of the decompressed objects and texts of a document. The library has no limit of its own. */
const MAX_DECODED_BYTES = 64 * 1024 * 1024;

const problems = {
  notPdf: 'the data is not a PDF document.',
  incomplete: 'the PDF document is incomplete.',
  encrypted: 'the PDF document is encrypted. Send it without a password.',
  tooLarge: 'the PDF document is too large when decompressed.',
  noPages: 'the PDF document has no readable pages.',
  wrongCount: 'the PDF document has another number of pages than it says.',
} as const;

/** The pages, or why they cannot be counted. */
export type CountedPages = DocumentSize | { readonly problem: string };

/**
 * Counts the pages of a PDF document. All objects are read in the order of the file: no table of offsets is
 * followed.
 *
 * A document that says another number of pages than it has is refused: providers use either.
 */
export async function countPages(pdf: Uint8Array): Promise<CountedPages> {
  const bytes = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
  if (!bytes.subarray(0, MARK_BYTES).includes('%PDF-')) return { problem: problems.notPdf };
  if (!bytes.subarray(-MARK_BYTES).includes('%%EOF')) return { problem: problems.incomplete };
  const decoding = limitDecoding(MAX_DECODED_BYTES);
  let context: PDFContext;
  try {
    context = await PDFParser.forBytesWithOptions(pdf, Infinity, false, false, true).parseDocument();
  } catch {
    return { problem: decoding.isExceeded() ? problems.tooLarge : problems.noPages };
  }
  // The library skips objects that it cannot read.
  if (decoding.isExceeded()) return { problem: problems.tooLarge };
  const { Root, Encrypt } = context.trailerInfo;
  if (Encrypt !== undefined) return { problem: problems.encrypted };
  const root = context.lookup(Root);
  const tree = root instanceof PDFDict ? root.get(PDFName.of('Pages')) : undefined;
  const pages = pagesOf(context, tree);
  if (pages === undefined || pages.length === 0) return { problem: problems.noPages };
  if (pages.length !== claimedPages(context, tree)) return { problem: problems.wrongCount };
  try {
    return { pages: pages.length, characters: charactersOf(context, pages) };
  } catch {
    return { problem: decoding.isExceeded() ? problems.tooLarge : problems.noPages };
  }
}

/** @returns undefined for a tree with a missing node, or with a node that is its own descendant. */
function pagesOf(context: PDFContext, tree: unknown): readonly PDFDict[] | undefined {
  const nodes: unknown[] = [tree];
  const seen = new Set<PDFDict>();
  const pages: PDFDict[] = [];
  for (let next = nodes.pop(); next !== undefined; next = nodes.pop()) {
    const node = next instanceof PDFRef ? context.lookup(next) : next;
    if (!(node instanceof PDFDict)) return undefined;
    const kids = node.lookup(PDFName.of('Kids'));
    if (kids instanceof PDFArray) {
      // A node in several places could stand for any number of pages.
      if (seen.has(node)) return undefined;
      seen.add(node);
      for (const kid of kids.asArray()) nodes.push(kid);
    } else {
      pages.push(node);
    }
  }
  return pages;
}

function claimedPages(context: PDFContext, tree: unknown): number | undefined {
  const node = tree instanceof PDFRef ? context.lookup(tree) : tree;
  if (!(node instanceof PDFDict)) return undefined;
  // The tree of a document with one page may be that page.
  if (!(node.lookup(PDFName.of('Kids')) instanceof PDFArray)) return 1;
  const count = node.lookup(PDFName.of('Count'));
  return count instanceof PDFNumber ? count.asNumber() : undefined;
}

interface Decoder {
  readonly buffer: Uint8Array;
  ensureBuffer(requested: number): Uint8Array;
}

let remainingBytes = 0;
let isExceeded = false;
let isLimited = false;

/** Limits the bytes that all decoders of the library together allocate from now on. */
function limitDecoding(maxBytes: number): { readonly isExceeded: () => boolean } {
  remainingBytes = maxBytes;
  isExceeded = false;
  if (!isLimited) limitDecoders();
  isLimited = true;
  return { isExceeded: () => isExceeded };
}

/** The decoders of all filters have one base class, which grows their buffers. The library does not export it. */
function limitDecoders(): void {
  const decoder: Decoder = Object.getPrototypeOf(Object.getPrototypeOf(anyDecoder()));
  const { ensureBuffer } = decoder;
  decoder.ensureBuffer = function (this: Decoder, requested: number): Uint8Array {
    const { byteLength } = this.buffer;
    // A buffer that grows at least doubles.
    if (requested > byteLength) remainingBytes -= Math.max(requested - byteLength, byteLength);
    isExceeded ||= remainingBytes < 0;
    if (isExceeded) throw new Error('the document decompresses to more than the limit');
    return ensureBuffer.call(this, requested);
  };
}

function anyDecoder(): unknown {
  const dict = PDFDict.withContext(PDFContext.create());
  dict.set(PDFName.of('Filter'), PDFName.of('RunLengthDecode'));
  return decodePDFRawStream(PDFRawStream.of(dict, new Uint8Array()));
}
