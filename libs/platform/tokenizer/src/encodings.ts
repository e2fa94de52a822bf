import { createBytePairs, type BytePairs } from './byte-pairs';
import { loadVocabulary, type Vocabulary } from './vocabulary';

export interface Encoding extends BytePairs {
  /** Shared with threads, which create the same encoding from it. */
  readonly vocabulary: Vocabulary;
}

const loaded = new Map<string, Promise<Encoding>>();

/**
 * Returns the encoding with this name, `o200k_base` or `cl100k_base`. It is loaded once per process.
 */
export function loadEncoding(name: string): Promise<Encoding> {
  const known = loaded.get(name);
  if (known) return known;
  const loading = loadVocabulary(name).then((vocabulary) => ({
    vocabulary,
    ...createBytePairs(vocabulary),
  }));
  loaded.set(name, loading);
  // The next call tries again.
  loading.catch(() => loaded.delete(name));
  return loading;
}
