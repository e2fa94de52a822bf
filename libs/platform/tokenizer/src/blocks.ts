/** UTF-16 code units of a block that may end where a line does, and of one that does at the next. */
const MIN_BLOCK_LENGTH = 256;
export const MAX_LINES_LENGTH = 2_048;

/**
 * Cuts a text into lines that are counted by themselves, so that texts with much in common, such as
 * the requests of one conversation, have blocks in common. Changes no count: no token of the
 * encodings has a line's end and an ASCII letter or digit behind it.
 *
 * Where a block ends depends on what stands before its end more than on where in the text it is:
 * two texts that go on alike are soon cut alike. A block is one block again.
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
    // One in four of all lines, by the 48 units before its beginning.
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
