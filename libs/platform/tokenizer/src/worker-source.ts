import { blocksOf, MAX_LINES_LENGTH, MIN_BLOCK_LENGTH } from './blocks';
import { createBytePairs } from './byte-pairs';
import { MAX_PIECE_LENGTH, MAX_RUN_LENGTH, piecesOf } from './pieces';
import { hashBytes, type Vocabulary } from './vocabulary';

/** A job for a worker thread: how many tokens does each of these texts have? */
export interface CountJob {
  readonly id: number;
  /** Shared with the thread, not copied. */
  readonly vocabulary: Vocabulary;
  readonly texts: readonly string[];
}

export type CountAnswer =
  | { readonly id: number; readonly tokens: readonly number[] }
  | { readonly id: number; readonly error: string };

/**
 * The program of a worker thread, as text: it has to run from a bundle, where no
 * source file of ours exists, and from tests, where the sources are TypeScript.
 * Takes CountJob messages, answers each with a CountAnswer. The thread cuts the
 * texts too, since that takes milliseconds for the longest of them.
 */
export const workerSource = `
const { parentPort } = require('node:worker_threads');
const blocksOf = ${blocksOf.toString()};
const piecesOf = ${piecesOf.toString()};
const hashBytes = ${hashBytes.toString()};
const createBytePairs = ${createBytePairs.toString()};
const encodings = new Map();
function encodingOf(vocabulary) {
  const known = encodings.get(vocabulary.encoding);
  if (known) return known;
  const made = createBytePairs(vocabulary, hashBytes);
  encodings.set(vocabulary.encoding, made);
  return made;
}
parentPort.on('message', ({ id, vocabulary, texts }) => {
  try {
    const encoding = encodingOf(vocabulary);
    const tokens = texts.map((text) => {
      let ofText = 0;
      for (const block of blocksOf(text, ${MIN_BLOCK_LENGTH}, ${MAX_LINES_LENGTH})) {
        for (const piece of piecesOf(block, ${MAX_PIECE_LENGTH}, ${MAX_RUN_LENGTH})) ofText += encoding.count(piece);
      }
      return ofText;
    });
    parentPort.postMessage({ id, tokens });
  } catch (error) {
    parentPort.postMessage({ id, error: String(error) });
  }
});
`;
