import { ALL_SEGMENTS, appendSentences } from './text';
import { countTokens, loadTokenizer, splitIntoSegments, type TextSegment } from './tokens';
import { createRandom } from './random';

beforeAll(loadTokenizer);

const join = (segments: readonly TextSegment[]) => segments.map(({ text }) => text).join('');
const sum = (segments: readonly TextSegment[]) => segments.reduce((total, { tokens }) => total + tokens, 0);

describe('tokens', () => {
  it('every word of the generator is one token', () => {
    expect(ALL_SEGMENTS.filter(({ text }) => countTokens(text) !== 1)).toEqual([]);
  });

  it('generated text has exactly the requested tokens, by segment and in total', () => {
    for (let count = 0; count < 200; count++) {
      const segments: TextSegment[] = [];
      appendSentences(segments, count, createRandom(count));
      expect(sum(segments)).toBe(count);
      expect(countTokens(join(segments))).toBe(count);
    }
  });

  it.each([
    ['several alphabets', 'Grüße, 世界, مرحبا, 🎉👩‍👩‍👧'],
    ['text that resembles a special token', 'a <|endoftext|> b'],
    ['a replacement character', 'x \uFFFD y'],
    ['a split within a surrogate pair', `${'a'.repeat(4_095)}🎉${'b'.repeat(5_000)}`],
  ])('the segments join to the text: %s', (_name, text) => {
    const segments = splitIntoSegments(text);
    expect(join(segments)).toBe(text);
    expect(sum(segments)).toBe(countTokens(text));
  });

  it('very long text is counted by its bytes', () => {
    expect(countTokens('a'.repeat(400_000))).toBe(100_000);
  });
});
