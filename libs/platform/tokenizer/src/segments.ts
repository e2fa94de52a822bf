/** UTF-16 code units that are tokenized together at most. */
export const MAX_PIECE_LENGTH = 4_096;

/**
 * Code units in a row without a change between space and non-space. A
 * tokenizer's work grows with the square of such a run.
 */
export const MAX_RUN_LENGTH = 256;

/**
 * Cuts a text so that tokenizing the pieces takes time in proportion to its
 * length, whatever it holds. Cuts before the white space in front of a word
 * where there is one, as tokenizers do; never inside a surrogate pair. The same
 * text is always cut the same way.
 */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  let wordBreak = 0;
  let runStart = 0;
  let wasSpace = false;
  let before = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const isSpace = unit === 32 || (unit >= 9 && unit <= 13);
    if (isSpace !== wasSpace) {
      if (isSpace) wordBreak = at;
      runStart = at;
      wasSpace = isSpace;
    }
    const endsPair = unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
    before = unit;
    const isRunFull = at - runStart >= MAX_RUN_LENGTH;
    if ((!isRunFull && at - from < MAX_PIECE_LENGTH) || endsPair) continue;
    const cut = isRunFull || wordBreak <= from ? at : wordBreak;
    pieces.push(text.slice(from, cut));
    from = cut;
    if (cut === at) runStart = at;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/**
 * How much work tokenizing the text is: the squares of its runs without a
 * change between space and non-space, added up. A unit takes some 4 to 12 ns.
 */
export function tokenizingWork(text: string): number {
  let work = 0;
  let run = 0;
  let wasSpace = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const isSpace = unit === 32 || (unit >= 9 && unit <= 13);
    if (isSpace !== wasSpace || run === MAX_RUN_LENGTH) {
      work += run * run;
      run = 0;
      wasSpace = isSpace;
    }
    run += 1;
  }
  return work + run * run;
}
