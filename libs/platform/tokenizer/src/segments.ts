/** Maximum length of a segment, in UTF-16 code units. */
export const MAX_SEGMENT_LENGTH = 4_096;

/**
 * Maximum run without a change between space and non-space, in code units. A
 * tokenizer's work grows with the square of such a run.
 */
export const MAX_RUN_LENGTH = 256;

/**
 * Splits a text so that the time to tokenize it is linear in its length, for any
 * content. Splits before the white space of a word where possible, as tokenizers
 * do, and never within a surrogate pair. Deterministic.
 */
export function segmentsOf(text: string): string[] {
  const segments: string[] = [];
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
    if ((!isRunFull && at - from < MAX_SEGMENT_LENGTH) || endsPair) continue;
    const end = isRunFull || wordBreak <= from ? at : wordBreak;
    segments.push(text.slice(from, end));
    from = end;
    if (end === at) runStart = at;
  }
  if (from < text.length) segments.push(text.slice(from));
  return segments;
}

/**
 * The work of tokenizing a text: the sum of the squared lengths of its runs without
 * a change between space and non-space. One unit takes about 4 to 12 ns.
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
