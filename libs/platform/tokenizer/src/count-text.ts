import { blocksOf } from './blocks';
import type { BytePairs } from './byte-pairs';
import { piecesOf } from './pieces';

/** The number of tokens of a text, whose parts are counted one by one. */
export function countText(text: string, encoding: BytePairs): number {
  let tokens = 0;
  for (const block of blocksOf(text)) {
    for (const piece of piecesOf(block)) tokens += encoding.count(piece);
  }
  return tokens;
}
