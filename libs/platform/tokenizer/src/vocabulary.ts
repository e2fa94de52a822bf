import { readFile } from 'node:fs/promises';
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { hashBytes } from './hash-bytes';

/**
 * The tokens of an encoding, as bytes and numbers in shared memory. A Map of 200,000 strings would
 * use ten times the memory and loading time.
 */
export interface Vocabulary {
  readonly encoding: string;
  /** Splits a text into words without gaps; no token spans two words. */
  readonly words: RegExp;
  /** The bytes of all tokens, concatenated in the order of their ranks. */
  readonly bytes: Uint8Array;
  /** The offset of each token in `bytes`, followed by the end of the last one. */
  readonly starts: Uint32Array;
  /** A hash table with linear probing: rank + 1, or 0 for a free slot. The length is a power of two. */
  readonly slots: Uint32Array;
}

interface Source {
  readonly words: RegExp;
  /** Absolute path of OpenAI's vocabulary file: per line the base64 of a token, and its rank. */
  readonly path: () => string;
}

const sources: ReadonlyMap<string, Source> = new Map([
  [
    'o200k_base',
    { words: O200K_TOKEN_SPLIT_REGEX, path: () => require.resolve('gpt-tokenizer/data/o200k_base.tiktoken') },
  ],
  [
    'cl100k_base',
    {
      words: CL100K_TOKEN_SPLIT_REGEX,
      path: () => require.resolve('gpt-tokenizer/data/cl100k_base.tiktoken'),
    },
  ],
]);

/** Loads a vocabulary: about 5 MB and 50 ms of this thread for the largest. */
export async function loadVocabulary(encoding: string): Promise<Vocabulary> {
  const source = sources.get(encoding);
  if (!source) {
    throw new Error(
      `no tokenizer for the encoding ${encoding}; known encodings: ${[...sources.keys()].join(', ')}`,
    );
  }
  return { encoding, words: source.words, ...parseTokens(await readFile(source.path())) };
}

const LINE_FEED = 10;
const SPACE = 32;
const EQUALS = 61;
const DIGIT_0 = 48;
/** The six bits of each base64 character. */
const SIX_BITS = new Uint8Array(128);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach(
  (character, bits) => (SIX_BITS[character.charCodeAt(0)] = bits),
);
/** The shortest line: four base64 characters, a space, a digit and a line feed. */
const MIN_LINE_BYTES = 7;

/** @throws Error when the ranks are not 0, 1, 2 …, as in all known encodings. */
function parseTokens(file: Uint8Array): Pick<Vocabulary, 'bytes' | 'starts' | 'slots'> {
  // Allocated at the maximum length: unused pages use no memory.
  const bytes = new Uint8Array(new SharedArrayBuffer(file.length));
  const starts = new Uint32Array(new SharedArrayBuffer(4 * Math.ceil(file.length / MIN_LINE_BYTES + 1)));
  let count = 0;
  let end = 0;
  for (let at = 0; at < file.length; at += 1) {
    let bits = 0;
    let bitCount = 0;
    for (let character = file[at] as number; character !== SPACE; character = file[(at += 1)] as number) {
      if (character === EQUALS) continue;
      bits = (bits << 6) | (SIX_BITS[character] as number);
      bitCount += 6;
      if (bitCount < 8) continue;
      bitCount -= 8;
      bytes[end] = bits >> bitCount;
      end += 1;
      bits &= (1 << bitCount) - 1;
    }
    let rank = 0;
    for (at += 1; at < file.length && file[at] !== LINE_FEED; at += 1) {
      rank = rank * 10 + (file[at] as number) - DIGIT_0;
    }
    if (rank !== count) throw new Error(`the vocabulary has rank ${rank} instead of ${count}`);
    count += 1;
    starts[count] = end;
  }
  const tokens = { bytes: bytes.subarray(0, end), starts: starts.subarray(0, count + 1) };
  return { ...tokens, slots: slotsOf(tokens.bytes, tokens.starts) };
}

function slotsOf(bytes: Uint8Array, starts: Uint32Array): Uint32Array {
  const count = starts.length - 1;
  // At most half full, so that a lookup of a missing token probes few slots.
  const length = 2 ** Math.ceil(Math.log2(2 * count));
  const slots = new Uint32Array(new SharedArrayBuffer(4 * length));
  for (let rank = 0; rank < count; rank += 1) {
    let slot = hashBytes(bytes, starts[rank] as number, starts[rank + 1] as number) & (length - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (length - 1);
    slots[slot] = rank + 1;
  }
  return slots;
}
