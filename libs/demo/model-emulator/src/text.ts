import type { TextSegment } from './tokens';
import { between, pick, type Random } from './random';

/** With its leading space, each word is one o200k token, so the number of segments is the number of tokens. */
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

const COMMA: TextSegment = { text: ',', tokens: 1 };
const STOP: TextSegment = { text: '.', tokens: 1 };
const WORD_SEGMENTS: readonly TextSegment[] = WORDS.map((word) => ({ text: ` ${word}`, tokens: 1 }));
const OPENER_SEGMENTS: readonly TextSegment[] = OPENERS.map((word) => ({ text: ` ${word}`, tokens: 1 }));

/** Appends exactly `count` one-token segments of filler sentences, if possible ending with a full stop. */
export function appendSentences(segments: TextSegment[], count: number, random: Random): void {
  let leftInSentence = 0;
  for (let left = count; left > 0; left--) {
    if (left === 1) {
      // Two consecutive punctuation marks would be one token.
      const afterMark = /[^a-z]$/.test(segments.at(-1)?.text ?? 'a');
      segments.push(afterMark ? pick(random, WORD_SEGMENTS) : STOP);
    } else if (leftInSentence === 0) {
      leftInSentence = between(random, 6, 14);
      segments.push(pick(random, OPENER_SEGMENTS));
    } else if (leftInSentence === 1 && left > 2) {
      leftInSentence = 0;
      segments.push(STOP);
    } else {
      leftInSentence = Math.max(1, leftInSentence - 1);
      segments.push(leftInSentence === 5 && left > 8 ? COMMA : pick(random, WORD_SEGMENTS));
    }
  }
}

/** A short phrase for string values in JSON responses and tool arguments. */
export function phrase(random: Random, words: number): string {
  const chosen: string[] = [];
  for (let index = 0; index < words; index++) chosen.push(pick(random, WORDS));
  return chosen.join(' ');
}

/** All segments of the generator, for the test that each one is a single token. */
export const ALL_SEGMENTS: readonly TextSegment[] = [COMMA, STOP, ...WORD_SEGMENTS, ...OPENER_SEGMENTS];
