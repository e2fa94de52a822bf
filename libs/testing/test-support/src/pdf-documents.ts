import { deflateSync } from 'node:zlib';

/** The text of an object, or its bytes. */
type PdfObject = string | Buffer;

const CATALOG = '<</Type/Catalog/Pages 2 0 R>>';

/** A PDF document with this many pages, as programs write it. */
export function pdfDocument(pages = 1, { count = pages }: { readonly count?: number | string } = {}): Buffer {
  return assemble([CATALOG, pageTree(pages, count), ...pageObjects(pages)]);
}

/** The same with its objects in a compressed stream, as newer programs write it. */
export function compressedPdfDocument(pages = 1): Buffer {
  return assemble([objectStream([CATALOG, pageTree(pages, pages), ...pageObjects(pages)])], {
    firstNumber: pages + 3,
    end: 'Root',
  });
}

/** A PDF document of one page with this content, and with objects from number 5 on. */
export function pdfDocumentOf(
  content: string,
  {
    contentDict = '',
    objects = [],
  }: { readonly contentDict?: string; readonly objects?: readonly PdfObject[] } = {},
): Buffer {
  const page = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R>>';
  return assemble([CATALOG, pageTree(1, 1), page, pdfStream(content, contentDict), ...objects]);
}

/** A compressed stream. */
export const pdfStream = (content: string, entries = '') => stream(entries, Buffer.from(content, 'latin1'));

function pageTree(pages: number, count: number | string): string {
  const kids = Array.from({ length: pages }, (_, index) => `${index + 3} 0 R`).join(' ');
  return `<</Type/Pages/Kids[${kids}]/Count ${count}>>`;
}

function pageObjects(pages: number): string[] {
  return Array.from({ length: pages }, () => '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>');
}

interface Assembly {
  /** The number of the first object. */
  readonly firstNumber?: number;
  /** Entries of the trailer other than the catalogue. */
  readonly trailer?: string;
  /** Where the catalogue is named: in the trailer, or in a stream of references. */
  readonly end?: 'trailer' | 'Root';
}

function assemble(objects: readonly PdfObject[], assembly: Assembly = {}): Buffer {
  const { firstNumber = 1, trailer = '', end = 'trailer' } = assembly;
  const chunks: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const offsets: number[] = [];
  let position = chunks[0]?.length ?? 0;
  const add = (part: PdfObject) => {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
    chunks.push(bytes);
    position += bytes.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(position);
    add(`${firstNumber + index} 0 obj\n`);
    add(object);
    add('\nendobj\n');
  }
  const start = position;
  const size = firstNumber + objects.length;
  if (end === 'trailer') {
    add(`xref\n0 ${size}\n0000000000 65535 f \n`);
    for (const offset of offsets) add(`${String(offset).padStart(10, '0')} 00000 n \n`);
    add(`trailer\n<</Size ${size}/Root 1 0 R${trailer}>>\n`);
  } else {
    add(`${size} 0 obj\n`);
    add(stream(`/Type/XRef/Size 1/W[1 1 1]/Root 1 0 R${trailer}`, Buffer.from([0, 0, 0])));
    add('\nendobj\n');
  }
  add(`startxref\n${start}\n%%EOF\n`);
  return Buffer.concat(chunks);
}

function stream(entries: string, data: Buffer, filters = '/FlateDecode'): Buffer {
  const filtered = filters.split('/Flate').length - 1;
  let bytes = data;
  for (let times = 0; times < filtered; times += 1) bytes = deflateSync(bytes);
  return Buffer.concat([
    Buffer.from(`<<${entries}/Filter[${filters}]/Length ${bytes.length}>>\nstream\n`, 'latin1'),
    bytes,
    Buffer.from('\nendstream', 'latin1'),
  ]);
}

/** A stream of objects from number 1. */
function objectStream(objects: readonly string[]): Buffer {
  let offset = 0;
  const places = objects.map((object, index) => {
    const place = `${index + 1} ${offset}`;
    offset += object.length + 1;
    return place;
  });
  const head = `${places.join(' ')} `;
  const body = Buffer.from(head + objects.join(' '), 'latin1');
  return stream(`/Type/ObjStm/N ${objects.length}/First ${head.length}`, body);
}

const BOMB_BYTES = 96 * 1024 * 1024;
const NODES = 40;

/** Documents whose pages cannot be counted, or not be used, by their fault. */
export const hostilePdfDocuments: Readonly<Record<string, () => Buffer>> = {
  'no PDF': () => Buffer.from('Hello, this is text.'),
  'an image': () => Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  'a header alone': () => Buffer.from('%PDF-1.7\n'),
  'a header and an end': () => Buffer.from('%PDF-1.7\n%%EOF\n'),
  truncated: () => pdfDocument(3).subarray(0, -8),
  encrypted: () =>
    assemble([CATALOG, pageTree(1, 1), ...pageObjects(1), '<</Filter/Standard/V 1/R 2/P -4>>'], {
      trailer: '/Encrypt 4 0 R/ID[<00><00>]',
    }),
  'encrypted, in a stream of references': () =>
    assemble([CATALOG, pageTree(1, 1), ...pageObjects(1), '<</Filter/Standard/V 4/R 4/P -4>>'], {
      trailer: '/Encrypt 4 0 R',
      end: 'Root',
    }),
  'no catalogue': () => assemble(['<</Type/Font>>']),
  'no page tree': () => assemble(['<</Type/Catalog>>']),
  'no pages': () => pdfDocument(0),
  'a page tree that contains itself': () => assemble([CATALOG, '<</Type/Pages/Kids[2 0 R]/Count 1>>']),
  'a page tree with a loop': () =>
    assemble([
      CATALOG,
      '<</Type/Pages/Kids[3 0 R]/Count 1>>',
      '<</Type/Pages/Kids[4 0 R]/Count 1>>',
      '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    ]),
  'a page tree that doubles at each node': () =>
    assemble([
      CATALOG,
      ...Array.from({ length: NODES }, (_, index) => {
        const next = index + 3;
        return `<</Type/Pages/Kids[${next} 0 R ${next} 0 R]/Count ${2 ** (NODES - index)}>>`;
      }),
      '<</Type/Page>>',
    ]),
  'a missing page': () => assemble([CATALOG, '<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>', '<</Type/Page>>']),
  'a page that is a number': () => assemble([CATALOG, '<</Type/Pages/Kids[3]/Count 1>>']),
  'fewer pages claimed': () => pdfDocument(50, { count: 1 }),
  'more pages claimed': () => pdfDocument(1, { count: 50 }),
  'no pages claimed': () => pdfDocument(2, { count: 0 }),
  'a negative claim': () => pdfDocument(2, { count: -2 }),
  'a claim that is no number': () => pdfDocument(2, { count: '/Two' }),
  'a claim without end': () => pdfDocument(1, { count: '9'.repeat(400) }),
  'objects that decompress to a bomb': () =>
    assemble([
      CATALOG,
      pageTree(1, 1),
      ...pageObjects(1),
      stream('/Type/ObjStm/N 1/First 4', Buffer.alloc(BOMB_BYTES)),
    ]),
  'a bomb that is compressed twice': () =>
    assemble([
      CATALOG,
      pageTree(1, 1),
      ...pageObjects(1),
      stream('/Type/ObjStm/N 1/First 4', Buffer.alloc(BOMB_BYTES), '/FlateDecode/FlateDecode'),
    ]),
  'references that decompress to a bomb': () =>
    assemble([
      CATALOG,
      pageTree(1, 1),
      ...pageObjects(1),
      stream('/Type/XRef/Size 1/W[1 1 1]/Root 1 0 R', Buffer.alloc(BOMB_BYTES)),
    ]),
};

/** Documents that use time or memory without end. */
export const exhaustingPdfDocuments: Readonly<Record<string, () => Buffer>> = {
  'references without end': () =>
    assemble([
      CATALOG,
      pageTree(1, 1),
      ...pageObjects(1),
      stream('/Type/XRef/Size 4000000000/W[0 0 0]/Root 1 0 R', Buffer.from([0])),
    ]),
  'objects that never close': () => Buffer.from(`%PDF-1.7\n${'1 0 obj <<\n'.repeat(300_000)}%%EOF`),
};
