import { parentPort } from 'node:worker_threads';
import { createBytePairs, type BytePairs } from './byte-pairs';
import { countText } from './count-text';
import type { Vocabulary } from './vocabulary';

/** A job of a worker thread: counts the tokens of each text. */
export interface CountJob {
  readonly id: number;
  /** Shared with the thread, not copied. */
  readonly vocabulary: Vocabulary;
  readonly texts: readonly string[];
}

export type CountResult =
  | { readonly id: number; readonly tokens: readonly number[] }
  | { readonly id: number; readonly error: string };

/**
 * The script of a counting thread; it has a bundle of its own. The thread also
 * splits the texts, which takes milliseconds for the longest ones.
 */
const encodings = new Map<string, BytePairs>();

parentPort?.on('message', ({ id, vocabulary, texts }: CountJob) => {
  try {
    const encoding = encodingOf(vocabulary);
    send({ id, tokens: texts.map((text) => countText(text, encoding)) });
  } catch (error) {
    send({ id, error: String(error) });
  }
});

function encodingOf(vocabulary: Vocabulary): BytePairs {
  const known = encodings.get(vocabulary.encoding);
  if (known) return known;
  const encoding = createBytePairs(vocabulary);
  encodings.set(vocabulary.encoding, encoding);
  return encoding;
}

function send(result: CountResult): void {
  parentPort?.postMessage(result);
}
