/** A block ends at the end of a line. Minimum length in UTF-16 code units, and the length from which every line end is used. */
const MIN_BLOCK_LENGTH = 256;
export const MAX_LINES_LENGTH = 2_048;

/**
 * Splits a text into blocks of lines that are counted separately, so that similar texts, such as
 * the requests of one conversation, share blocks. Counts do not change: no token of the encodings
 * spans a line end followed by an ASCII alphanumeric character.
 *
 * The end of a block depends mostly on the text before it, not on its position. So texts with an
 * equal continuation soon have equal blocks. Splitting a block yields that block.
 */
export function blocksOf(
  text: string,
  minLength = MIN_BLOCK_LENGTH,
  maxLinesLength = MAX_LINES_LENGTH,
): string[] {
  const blocks: string[] = [];
  let from = 0;
  for (let lineEnd = text.indexOf('\n', minLength); lineEnd !== -1;) {
    const at = lineEnd + 1;
    const unit = text.charCodeAt(at);
    const isWord = (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || (unit >= 48 && unit <= 57);
    // One in four lines, selected by the 48 code units before it.
    let sum = 0;
    for (let before = at - 48; isWord && before < at; before += 1)
      sum = (sum * 31 + text.charCodeAt(before)) | 0;
    if (isWord && ((sum & 3) === 0 || at - from >= maxLinesLength)) {
      blocks.push(text.slice(from, at));
      from = at;
      lineEnd = text.indexOf('\n', at + minLength);
    } else {
      lineEnd = text.indexOf('\n', at);
    }
  }
  blocks.push(text.slice(from));
  return blocks;
}
