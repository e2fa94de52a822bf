import type { TokenEncoding } from '../core/catalogue/model-catalogue';
import type { TokenCounter } from '../core/ports';

/** Byte-pair encoding is quadratic on long unbroken runs, so text is counted in pieces of this many characters. */
const PIECE_CHARACTERS = 4_096;
/** Pieces counted before other work gets its turn: a few milliseconds at worst. */
const PIECES_PER_TURN = 2;
/** Longer texts are estimated by their size alone. Decided by size and not by time, so that the count is the same every time. */
const MAX_COUNTED_CHARACTERS = 1_000_000;
const ESTIMATED_BYTES_PER_TOKEN = 3;

interface Encoding {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

/** Texts of models may hold what looks like a control token, which is text like any other. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

/** Counts with gpt-tokenizer, whose tables are loaded when they are first needed. */
export function createGptTokenCounter(): TokenCounter {
  const loading = new Map<TokenEncoding, Promise<Encoding>>();

  function encodingOf(name: TokenEncoding): Promise<Encoding> {
    let encoding = loading.get(name);
    if (!encoding) {
      encoding = load(name);
      loading.set(name, encoding);
    }
    return encoding;
  }

  return {
    async count(texts, { encoding, factor }) {
      if (texts.length === 0) return 0;
      const { countTokens } = await encodingOf(encoding);
      let tokens = 0;
      let pieces = 0;
      for (const text of texts) {
        if (text.length > MAX_COUNTED_CHARACTERS) {
          tokens += Math.ceil(Buffer.byteLength(text) / ESTIMATED_BYTES_PER_TOKEN);
          continue;
        }
        for (let start = 0; start < text.length; start += PIECE_CHARACTERS) {
          tokens += countTokens(text.slice(start, start + PIECE_CHARACTERS), PLAIN_TEXT);
          pieces += 1;
          if (pieces % PIECES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
        }
      }
      return Math.ceil(tokens * factor);
    },
  };
}

function load(name: TokenEncoding): Promise<Encoding> {
  switch (name) {
    case 'o200k_base':
      return import('gpt-tokenizer/encoding/o200k_base');
    case 'cl100k_base':
      return import('gpt-tokenizer/encoding/cl100k_base');
  }
}
