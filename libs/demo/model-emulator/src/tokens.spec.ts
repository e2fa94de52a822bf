import { ALL_PIECES, appendSentences } from './text';
import { countTokens, loadTokenizer, splitIntoPieces, type Piece } from './tokens';
import { createRandom } from './random';

beforeAll(loadTokenizer);

const join = (pieces: readonly Piece[]) => pieces.map(({ text }) => text).join('');
const sum = (pieces: readonly Piece[]) => pieces.reduce((total, { tokens }) => total + tokens, 0);

describe('tokens', () => {
  it('every word of the generator is one token', () => {
    expect(ALL_PIECES.filter(({ text }) => countTokens(text) !== 1)).toEqual([]);
  });

  it('made text has exactly the tokens asked for, also when counted as a whole', () => {
    for (let count = 0; count < 200; count++) {
      const pieces: Piece[] = [];
      appendSentences(pieces, count, createRandom(count));
      expect(sum(pieces)).toBe(count);
      expect(countTokens(join(pieces))).toBe(count);
    }
  });

  it.each([
    ['several alphabets', 'Grüße, 世界, مرحبا, 🎉👩‍👩‍👧'],
    ['what looks like a special token', 'a <|endoftext|> b'],
    ['a replacement character', 'x \uFFFD y'],
    ['a cut between the halves of a character', `${'a'.repeat(4_095)}🎉${'b'.repeat(5_000)}`],
  ])('pieces are the text again: %s', (_name, text) => {
    const pieces = splitIntoPieces(text);
    expect(join(pieces)).toBe(text);
    expect(sum(pieces)).toBe(countTokens(text));
  });

  it('counts very long text by its bytes', () => {
    expect(countTokens('a'.repeat(400_000))).toBe(100_000);
  });
});
