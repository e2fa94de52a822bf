import type * as o200k from 'gpt-tokenizer/encoding/o200k_base';

type Tokenizer = typeof o200k;

let loaded: Tokenizer | undefined;

/** Loads the token table (about 70 MB); whoever only imports the emulator does not pay for it. */
export async function loadTokenizer(): Promise<void> {
  loaded ??= await import('gpt-tokenizer/encoding/o200k_base');
}

function tokenizer(): Tokenizer {
  if (loaded === undefined) throw new Error('loadTokenizer() comes first');
  return loaded;
}

/** Text such as `<|endoftext|>` is ordinary text here; without this the tokenizer throws on it. */
const ORDINARY_TEXT = { disallowedSpecial: new Set<string>() };

/** BPE is quadratic on long unbroken runs, so text is counted in pieces of at most this many characters. */
const PIECE_CHARACTERS = 4_096;

/** Beyond this size the count is bytes / 4: a deterministic rule by size, never by time. */
const EXACT_LIMIT_CHARACTERS = 262_144;

/** Tokens of `text` under o200k_base (bytes / 4 beyond 256 Ki characters). */
export function countTokens(text: string): number {
  if (text.length <= PIECE_CHARACTERS) return tokenizer().countTokens(text, ORDINARY_TEXT);
  if (text.length > EXACT_LIMIT_CHARACTERS) return Math.ceil(Buffer.byteLength(text) / 4);
  let total = 0;
  for (const part of inParts(text)) total += tokenizer().countTokens(part, ORDINARY_TEXT);
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
  const { encode, decode } = tokenizer();
  const pieces: Piece[] = [];
  for (const part of inParts(text)) {
    let pending: number[] = [];
    for (const token of encode(part, ORDINARY_TEXT)) {
      pending.push(token);
      const decoded = decode(pending);
      if (decoded.endsWith('\uFFFD')) continue;
      pieces.push({ text: decoded, tokens: pending.length });
      pending = [];
    }
    if (pending.length > 0) pieces.push({ text: decode(pending), tokens: pending.length });
  }
  return pieces;
}
