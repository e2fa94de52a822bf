import { createBytePairs, type BytePairs } from './byte-pairs';
import { loadVocabulary, type Vocabulary } from './vocabulary';

export interface Encoding extends BytePairs {
  /** For threads, which make the same encoding of it. */
  readonly vocabulary: Vocabulary;
}

const loaded = new Map<string, Promise<Encoding>>();

/**
 * An encoding by its name, `o200k_base` or `cl100k_base`: read when it is first asked for, and then
 * the same for all of the process.
 */
export function loadEncoding(name: string): Promise<Encoding> {
  const known = loaded.get(name);
  if (known) return known;
  const loading = loadVocabulary(name).then((vocabulary) => ({
    vocabulary,
    ...createBytePairs(vocabulary),
  }));
  loaded.set(name, loading);
  // So that the next who asks tries again.
  loading.catch(() => loaded.delete(name));
  return loading;
}
