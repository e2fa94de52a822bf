import { loadEncoding, type Encoding } from '@gateway/tokenizer/encodings';

let loaded: Encoding | undefined;

/** Loads the token table. A mere import of the emulator does not load it. */
export async function loadTokenizer(): Promise<void> {
  loaded ??= await loadEncoding('o200k_base');
}

function encoding(): Encoding {
  if (loaded === undefined) throw new Error('loadTokenizer() was not called');
  return loaded;
}

/** BPE is quadratic in the length of unbroken runs, so text is counted in segments of at most this many characters. */
const SEGMENT_CHARACTERS = 4_096;

/** Longer text counts as bytes / 4. The limit is a size and not a time, so that counts are deterministic. */
const EXACT_LIMIT_CHARACTERS = 262_144;

/** Tokens of `text` under o200k_base (bytes / 4 beyond 256 Ki characters). */
export function countTokens(text: string): number {
  if (text.length <= SEGMENT_CHARACTERS) return encoding().count(text);
  if (text.length > EXACT_LIMIT_CHARACTERS) return Math.ceil(Buffer.byteLength(text) / 4);
  let total = 0;
  for (const part of splitBySize(text)) total += encoding().count(part);
  return total;
}

/** Splits long text, never within a surrogate pair. */
function* splitBySize(text: string): Generator<string, void, void> {
  for (let start = 0; start < text.length;) {
    let end = start + SEGMENT_CHARACTERS;
    const isHighSurrogate = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    if (end < text.length && isHighSurrogate) end--;
    yield text.slice(start, end);
    start = end;
  }
}

/** The text of one streamed chunk, with its number of tokens. */
export interface TextSegment {
  readonly text: string;
  readonly tokens: number;
}

export function joinText(segments: readonly TextSegment[]): string {
  let text = '';
  for (const segment of segments) text += segment.text;
  return text;
}

/**
 * Splits text as a model would stream it: one token per segment. Tokens that share a character
 * are joined, since a partial character is not valid UTF-8.
 */
export function splitIntoSegments(text: string): TextSegment[] {
  const { lengths } = encoding();
  const segments: TextSegment[] = [];
  for (const part of splitBySize(text)) {
    const bytes = Buffer.from(part);
    let start = 0;
    let end = 0;
    let tokens = 0;
    for (const length of lengths(part)) {
      end += length;
      tokens += 1;
      if (isInsideCharacter(bytes, end)) continue;
      segments.push({ text: bytes.toString('utf8', start, end), tokens });
      start = end;
      tokens = 0;
    }
  }
  return segments;
}

/** Whether the byte at `at` is a UTF-8 continuation byte. */
function isInsideCharacter(bytes: Buffer, at: number): boolean {
  return at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80;
}
