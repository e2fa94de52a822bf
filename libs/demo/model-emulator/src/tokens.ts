import { loadEncoding, type Encoding } from '@gateway/tokenizer/encodings';

let loaded: Encoding | undefined;

/** Reads the token table; whoever only imports the emulator does not pay for it. */
export async function loadTokenizer(): Promise<void> {
  loaded ??= await loadEncoding('o200k_base');
}

function encoding(): Encoding {
  if (loaded === undefined) throw new Error('loadTokenizer() comes first');
  return loaded;
}

/** BPE is quadratic on long unbroken runs, so text is counted in pieces of at most this many characters. */
const PIECE_CHARACTERS = 4_096;

/** Beyond this size the count is bytes / 4: a deterministic rule by size, never by time. */
const EXACT_LIMIT_CHARACTERS = 262_144;

/** Tokens of `text` under o200k_base (bytes / 4 beyond 256 Ki characters). */
export function countTokens(text: string): number {
  if (text.length <= PIECE_CHARACTERS) return encoding().count(text);
  if (text.length > EXACT_LIMIT_CHARACTERS) return Math.ceil(Buffer.byteLength(text) / 4);
  let total = 0;
  for (const part of inParts(text)) total += encoding().count(part);
  return total;
}

/** Cuts long text, never between the two halves of a character. */
function* inParts(text: string): Generator<string, void, void> {
  for (let start = 0; start < text.length;) {
    let end = start + PIECE_CHARACTERS;
    const isFirstHalf = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    if (end < text.length && isFirstHalf) end--;
    yield text.slice(start, end);
    start = end;
  }
}

/** One streamed piece of text and the number of tokens it stands for. */
export interface Piece {
  readonly text: string;
  readonly tokens: number;
}

/**
 * Splits text the way a model would emit it: one token per piece, except that tokens which
 * share a character are emitted together, since half a character is not valid UTF-8.
 */
export function splitIntoPieces(text: string): Piece[] {
  const { lengths } = encoding();
  const pieces: Piece[] = [];
  for (const part of inParts(text)) {
    const bytes = Buffer.from(part);
    let start = 0;
    let end = 0;
    let tokens = 0;
    for (const length of lengths(part)) {
      end += length;
      tokens += 1;
      if (isInsideCharacter(bytes, end)) continue;
      pieces.push({ text: bytes.toString('utf8', start, end), tokens });
      start = end;
      tokens = 0;
    }
  }
  return pieces;
}

/** Whether the byte there goes on with a character of UTF-8 that began before it. */
function isInsideCharacter(bytes: Buffer, at: number): boolean {
  return at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80;
}
