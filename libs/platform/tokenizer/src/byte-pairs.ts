import { hashBytes } from './hash-bytes';
import type { Vocabulary } from './vocabulary';

/** Byte pair encoding with one vocabulary. What looks like a special token is ordinary text. */
export interface BytePairs {
  /** The number of tokens of a text. Halves of surrogate pairs are replacement characters. */
  count(text: string): number;
  /** How many bytes of UTF-8 each token of a text stands for. */
  lengths(text: string): number[];
}

/**
 * A word that is a token is one; any other is cut into its bytes, of which those two neighbours are
 * joined again and again, the leftmost first, that are the token of the lowest rank together.
 */
export function createBytePairs({ words, bytes, starts, slots }: Vocabulary): BytePairs {
  const NONE = 0xffffffff;
  const mask = slots.length - 1;
  // One of its own, since it remembers how far it got.
  const nextWord = new RegExp(words.source, words.flags);
  // Of the word at hand: its bytes, where its parts begin, and the rank of each with the next together.
  let word = new Uint8Array(0);
  let begins = new Uint32Array(0);
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

  /** Encodes a part of a text to UTF-8, into `word`; by hand, since words are too short for a call of the system. */
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

  /** Cuts the word into tokens; they begin where `begins` says. */
  function cut(length: number): number {
    begins[0] = 0;
    if (rankOf(0, length) !== NONE) return 1;
    for (let at = 0; at < length; at += 1) {
      begins[at] = at;
      ranks[at] = at + 1 < length ? rankOf(at, at + 2) : NONE;
    }
    begins[length] = length;
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
      begins.copyWithin(join + 1, join + 2, parts + 1);
      ranks.copyWithin(join + 1, join + 2, parts);
      ranks[join] = together(join, parts - 1);
      if (join > 0) ranks[join - 1] = together(join - 1, parts - 1);
    }
  }

  function together(part: number, parts: number): number {
    return part + 1 < parts ? rankOf(begins[part] as number, begins[part + 2] as number) : NONE;
  }

  /** Calls back with the tokens of each word and its bytes. */
  function eachWord(text: string, found: (tokens: number, length: number) => void): void {
    if (word.length < text.length * 3) {
      word = new Uint8Array(text.length * 3);
      begins = new Uint32Array(word.length + 1);
      ranks = new Uint32Array(word.length);
    }
    let from = 0;
    nextWord.lastIndex = 0;
    // Only whether there is a next word is asked for, so that no word becomes a string.
    while (nextWord.test(text)) {
      const length = write(text, from, nextWord.lastIndex);
      from = nextWord.lastIndex;
      found(cut(length), length);
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
          const end = token + 1 < tokens ? (begins[token + 1] as number) : length;
          lengths.push(end - (begins[token] as number));
        }
      });
      return lengths;
    },
  };
}
