import type { Piece } from './tokens';
import { between, pick, type Random } from './random';

/** Each of these is one o200k token with its leading space, so that counting pieces counts tokens. */
const WORDS = (
  'the a this that each one other some many more first last next same new small large open clear simple ' +
  'time day way part place case point number group problem fact system program question work government ' +
  'night home water room area money story month lot right study book eye job word business issue side kind ' +
  'head house service friend father power hour game line end member law car city name team minute idea body ' +
  'information back parent face level office door health person art history party result change morning ' +
  'reason research moment air teacher force education is was has can will may must should would could ' +
  'gives takes keeps makes shows finds needs helps runs moves holds brings begins follows leads stands ' +
  'and or but with from into over under about after before between through during without within'
).split(' ');

const OPENERS = ['The', 'This', 'That', 'Each', 'One', 'Some', 'Many', 'It', 'We', 'They', 'There', 'When'];

const COMMA: Piece = { text: ',', tokens: 1 };
const STOP: Piece = { text: '.', tokens: 1 };
const WORD_PIECES: readonly Piece[] = WORDS.map((word) => ({ text: ` ${word}`, tokens: 1 }));
const OPENER_PIECES: readonly Piece[] = OPENERS.map((word) => ({ text: ` ${word}`, tokens: 1 }));

/** Appends exactly `count` one-token pieces of sentence-like text, ending in a full stop where that is possible. */
export function appendSentences(pieces: Piece[], count: number, random: Random): void {
  let leftInSentence = 0;
  for (let left = count; left > 0; left--) {
    if (left === 1) {
      // Two marks in a row would be one token.
      const afterMark = /[^a-z]$/.test(pieces.at(-1)?.text ?? 'a');
      pieces.push(afterMark ? pick(random, WORD_PIECES) : STOP);
    } else if (leftInSentence === 0) {
      leftInSentence = between(random, 6, 14);
      pieces.push(pick(random, OPENER_PIECES));
    } else if (leftInSentence === 1 && left > 2) {
      leftInSentence = 0;
      pieces.push(STOP);
    } else {
      leftInSentence = Math.max(1, leftInSentence - 1);
      pieces.push(leftInSentence === 5 && left > 8 ? COMMA : pick(random, WORD_PIECES));
    }
  }
}

/** A short phrase for string values in JSON answers and tool arguments. */
export function phrase(random: Random, words: number): string {
  const chosen: string[] = [];
  for (let index = 0; index < words; index++) chosen.push(pick(random, WORDS));
  return chosen.join(' ');
}

/** Every piece the generator can emit: for the test that each one really is a single token. */
export const ALL_PIECES: readonly Piece[] = [COMMA, STOP, ...WORD_PIECES, ...OPENER_PIECES];
