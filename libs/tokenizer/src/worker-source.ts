import { MAX_PIECE_LENGTH, MAX_RUN_LENGTH, piecesOf } from './pieces';

/** A job for a worker thread: how many tokens do these texts have together? */
export interface CountJob {
  readonly id: number;
  /** Absolute path of the encoding's module. */
  readonly encodingPath: string;
  readonly texts: readonly string[];
}

export type CountAnswer =
  { readonly id: number; readonly tokens: number } | { readonly id: number; readonly error: string };

/**
 * The program of a worker thread, as text: it has to run from a bundle, where no
 * source file of ours exists, and from tests, where the sources are TypeScript.
 * Takes CountJob messages, answers each with a CountAnswer. The thread cuts the
 * texts too, since that takes milliseconds for the longest of them.
 */
export const workerSource = `
const { parentPort } = require('node:worker_threads');
const piecesOf = ${piecesOf.toString()};
const options = { disallowedSpecial: new Set() };
parentPort.on('message', ({ id, encodingPath, texts }) => {
  try {
    const { countTokens } = require(encodingPath);
    let tokens = 0;
    for (const text of texts) {
      for (const piece of piecesOf(text, ${MAX_PIECE_LENGTH}, ${MAX_RUN_LENGTH})) tokens += countTokens(piece, options);
    }
    parentPort.postMessage({ id, tokens });
  } catch (error) {
    parentPort.postMessage({ id, error: String(error) });
  }
});
`;
