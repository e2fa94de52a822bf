import { hashBytes } from './hash-bytes';
import type { Vocabulary } from './vocabulary';

/** Byte pair encoding with one vocabulary. Special tokens in a text count as plain text. */
export interface BytePairs {
  /** The number of tokens of a text. Unpaired surrogates count as replacement characters. */
  count(text: string): number;
  /** The UTF-8 length of each token of a text, in bytes. */
  lengths(text: string): number[];
}

/**
 * A word that is a token counts as one. Any other word is split into bytes. Then the adjacent pair
 * with the lowest rank is merged, leftmost first, until no pair is a token.
 */
export function createBytePairs({ words, bytes, starts, slots }: Vocabulary): BytePairs {
  const NONE = 0xffffffff;
  const mask = slots.length - 1;
  // A copy, because `lastIndex` is state.
  const nextWord = new RegExp(words.source, words.flags);
  // The current word: its bytes, the offsets of its parts, and the rank of each part joined with the next.
  let word = new Uint8Array(0);
  let offsets = new Uint32Array(0);
  let ranks = new Uint32Array(0);

  function rankOf(from: number, to: number): number {
    for (let slot = hashBytes(word, from, to) & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot] as number;
      if (entry === 0) return NONE;
      const start = starts[entry - 1] as number;
      if ((starts[entry] as number) - start !== to - from) continue;
      let at = from;
      while (at < to && word[at] === bytes[start + at - from]) at += 1;
      if (at === to) return entry - 1;
    }
  }

  /** Encodes a part of a text as UTF-8 into `word`. Words are too short for a call of TextEncoder. */
  function write(text: string, from: number, to: number): number {
    let length = 0;
    for (let at = from; at < to; at += 1) {
      let code = text.charCodeAt(at);
      if (code < 0x80) {
        word[length++] = code;
        continue;
      }
      if (code >= 0xd800 && code <= 0xdfff) {
        code = text.codePointAt(at) as number;
        if (code > 0xffff) at += 1;
        else code = 0xfffd;
      }
      if (code < 0x800) {
        word[length++] = 0xc0 | (code >> 6);
      } else {
        if (code < 0x10000) word[length++] = 0xe0 | (code >> 12);
        else {
          word[length++] = 0xf0 | (code >> 18);
          word[length++] = 0x80 | ((code >> 12) & 0x3f);
        }
        word[length++] = 0x80 | ((code >> 6) & 0x3f);
      }
      word[length++] = 0x80 | (code & 0x3f);
    }
    return length;
  }

  /** Splits the word into tokens, which start at `offsets`. @returns their number. */
  function split(length: number): number {
    offsets[0] = 0;
    if (rankOf(0, length) !== NONE) return 1;
    for (let at = 0; at < length; at += 1) {
      offsets[at] = at;
      ranks[at] = at + 1 < length ? rankOf(at, at + 2) : NONE;
    }
    offsets[length] = length;
    for (let parts = length; ; parts -= 1) {
      let lowest = NONE;
      let join = 0;
      for (let part = 0; part + 1 < parts; part += 1) {
        const rank = ranks[part] as number;
        if (rank < lowest) {
          lowest = rank;
          join = part;
        }
      }
      if (lowest === NONE) return parts;
      offsets.copyWithin(join + 1, join + 2, parts + 1);
      ranks.copyWithin(join + 1, join + 2, parts);
      ranks[join] = pairRank(join, parts - 1);
      if (join > 0) ranks[join - 1] = pairRank(join - 1, parts - 1);
    }
  }

  function pairRank(part: number, parts: number): number {
    return part + 1 < parts ? rankOf(offsets[part] as number, offsets[part + 2] as number) : NONE;
  }

  /** Calls back with the number of tokens and bytes of each word. */
  function eachWord(text: string, found: (tokens: number, length: number) => void): void {
    if (word.length < text.length * 3) {
      word = new Uint8Array(text.length * 3);
      offsets = new Uint32Array(word.length + 1);
      ranks = new Uint32Array(word.length);
    }
    let from = 0;
    nextWord.lastIndex = 0;
    // `test` advances `lastIndex` without creating a string per word.
    while (nextWord.test(text)) {
      const length = write(text, from, nextWord.lastIndex);
      from = nextWord.lastIndex;
      found(split(length), length);
    }
  }

  return {
    count(text) {
      let total = 0;
      eachWord(text, (tokens) => (total += tokens));
      return total;
    },
    lengths(text) {
      const lengths: number[] = [];
      eachWord(text, (tokens, length) => {
        for (let token = 0; token < tokens; token += 1) {
          const end = token + 1 < tokens ? (offsets[token + 1] as number) : length;
          lengths.push(end - (offsets[token] as number));
        }
      });
      return lengths;
    },
  };
}
