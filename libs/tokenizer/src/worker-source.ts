/** A job for a worker thread: how many tokens do these pieces have? */
export interface CountJob {
  readonly id: number;
  /** Absolute path of the encoding's module. */
  readonly encodingPath: string;
  readonly pieces: readonly string[];
}

export type CountAnswer =
  { readonly id: number; readonly tokens: number } | { readonly id: number; readonly error: string };

/**
 * The program of a worker thread, as text: it has to run from a bundle, where no
 * source file of ours exists, and from tests, where the sources are TypeScript.
 * Takes CountJob messages, answers each with a CountAnswer.
 */
export const workerSource = `
const { parentPort } = require('node:worker_threads');
const options = { disallowedSpecial: new Set() };
parentPort.on('message', ({ id, encodingPath, pieces }) => {
  try {
    const { countTokens } = require(encodingPath);
    let tokens = 0;
    for (const piece of pieces) tokens += countTokens(piece, options);
    parentPort.postMessage({ id, tokens });
  } catch (error) {
    parentPort.postMessage({ id, error: String(error) });
  }
});
`;
