/** The kind of an image URL, determined before anything is decoded. */
export type ImageSource =
  | { readonly kind: 'remote' }
  | { readonly kind: 'inline'; readonly label: string; readonly base64: Base64 }
  | { readonly kind: 'invalid'; readonly problem: string };

const MAX_HEADER_LENGTH = 256;
const LEADING_SPACE = /^[\u0000-\u0020]+/;

/**
 * Classifies an image URL by its first characters. The rest may be 30 MB, so no
 * regular expression runs over it.
 */
export function readImageSource(url: string): ImageSource {
  const start = url.slice(0, MAX_HEADER_LENGTH);
  // URL parsers skip leading spaces and control characters, which must not hide a remote link.
  const scheme = start.replace(LEADING_SPACE, '').toLowerCase();
  if (scheme.startsWith('http:') || scheme.startsWith('https:') || scheme.startsWith('//')) {
    return { kind: 'remote' };
  }
  if (!start.toLowerCase().startsWith('data:')) {
    return { kind: 'invalid', problem: "it must be a base64 'data:' URI." };
  }
  const comma = start.indexOf(',');
  if (comma < 0) return { kind: 'invalid', problem: "the 'data:' URI has no comma before its data." };
  const [label = '', ...parameters] = start.slice('data:'.length, comma).toLowerCase().split(';');
  if (parameters.at(-1)?.trim() !== 'base64') {
    return { kind: 'invalid', problem: "the 'data:' URI must contain ';base64' and base64 data." };
  }
  return { kind: 'inline', label: label.trim(), base64: new Base64(url, comma + 1) };
}

/** Characters decoded at a time; a multiple of four. */
const CHUNK_CHARACTERS = 65_536;
/** Shared by all checks, since each is synchronous. */
const scratch = Buffer.allocUnsafe((CHUNK_CHARACTERS / 4) * 3);

/** Base64 within a longer text, read without decoding all of it. */
export class Base64 {
  constructor(
    private readonly text: string,
    private readonly from: number,
  ) {}

  /** Length of the decoded bytes, if the base64 is valid. */
  get byteLength(): number {
    const characters = this.text.length - this.from;
    return Math.max(0, Math.floor((characters * 3) / 4) - this.padding());
  }

  /** The data without spaces and line breaks, which mail programs and shells insert. */
  withoutSpace(): Base64 {
    return new Base64(this.text.slice(this.from).replace(/[ \t\r\n]+/g, ''), 0);
  }

  /** The data after this prefix. Returns the original text when it already starts with the prefix. */
  after(head: string): string {
    if (this.from === head.length && this.text.startsWith(head)) return this.text;
    return head + this.text.slice(this.from);
  }

  /** Whether the whole data is standard base64 with padding. */
  isValid(): boolean {
    const { text, from } = this;
    if (text.length === from || (text.length - from) % 4 !== 0) return false;
    // Node's decoder also accepts the URL-safe alphabet; providers do not.
    if (text.indexOf('-', from) >= 0 || text.indexOf('_', from) >= 0) return false;
    const padding = this.padding();
    for (let at = from; at < text.length; at += CHUNK_CHARACTERS) {
      const end = Math.min(at + CHUNK_CHARACTERS, text.length);
      const expected = ((end - at) / 4) * 3 - (end === text.length ? padding : 0);
      // An invalid character makes the decoded part shorter.
      if (scratch.write(text.slice(at, end), 'base64') !== expected) return false;
    }
    return true;
  }

  /** Up to `length` bytes from `offset`. */
  read(offset: number, length: number): Uint8Array {
    const group = Math.floor(offset / 3);
    const start = this.from + group * 4;
    const end = this.from + Math.ceil((offset + length) / 3) * 4;
    const skipped = offset - group * 3;
    return Buffer.from(this.text.slice(start, end), 'base64').subarray(skipped, skipped + length);
  }

  private padding(): number {
    if (!this.text.endsWith('=')) return 0;
    return this.text.endsWith('==') ? 2 : 1;
  }
}

/** Removes white space only when needed: it is rare, and the data may be 30 MB. */
export function validBase64(given: Base64): Base64 | undefined {
  if (given.isValid()) return given;
  const compact = given.withoutSpace();
  return compact.isValid() ? compact : undefined;
}
