import { blocksOf } from './blocks';
import type { BytePairs } from './byte-pairs';
import { segmentsOf } from './segments';

/** The number of tokens of a text, counted by segment. */
export function countText(text: string, encoding: BytePairs): number {
  let tokens = 0;
  for (const block of blocksOf(text)) {
    for (const segment of segmentsOf(block)) tokens += encoding.count(segment);
  }
  return tokens;
}
