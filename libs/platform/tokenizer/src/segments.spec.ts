import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import { MAX_PIECE_LENGTH, MAX_RUN_LENGTH, piecesOf as cut, tokenizingWork } from './pieces';

const runs = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', ' ', '\n', '\u4e00', '\u{1f600}', '\udc00', '\ud800', 'word '),
      fc.nat(1_500),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.map(([unit, count]) => unit.repeat(count)).join(''));

it('pieces are the text, each within the limit', () => {
  fc.assert(
    fc.property(runs, (text) => {
      const pieces = cut(text);
      expect(pieces.join('')).toBe(text);
      // One more where a surrogate pair stands at the limit.
      for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(MAX_PIECE_LENGTH + 1);
    }),
    fuzzRuns(),
  );
});

it('no piece has a longer run without a change between space and non-space', () => {
  fc.assert(
    fc.property(runs, (text) => {
      const lengths = cut(text).flatMap((piece) =>
        (piece.match(/[ \n]+|[^ \n]+/g) ?? []).map((run) => run.length),
      );
      expect(Math.max(0, ...lengths)).toBeLessThanOrEqual(MAX_RUN_LENGTH + 1);
    }),
    fuzzRuns(),
  );
});

it('surrogate pairs stay whole', () => {
  const text = `x${'\u{1f600}'.repeat(3_000)}`;
  for (const piece of cut(text)) {
    expect(piece.charCodeAt(0) >> 10).not.toBe(0xdc00 >> 10);
  }
});

it('ordinary text is cut before the white space in front of a word', () => {
  const pieces = cut('word after word '.repeat(1_000));
  expect(pieces.length).toBeGreaterThan(3);
  for (const piece of pieces.slice(1)) expect(piece).toMatch(/^ \w/);
});

it('short text is one piece, no text is none', () => {
  expect(cut('Hello, world')).toEqual(['Hello, world']);
  expect(cut('')).toEqual([]);
});

it('work grows with the square of an unbroken run, up to the length of a run', () => {
  expect(tokenizingWork('')).toBe(0);
  expect(tokenizingWork('abcd ef')).toBe(4 * 4 + 1 + 2 * 2);
  expect(tokenizingWork('a'.repeat(MAX_RUN_LENGTH * 3))).toBe(3 * MAX_RUN_LENGTH ** 2);
});

it('prose of the inline size is a small part of the inline work', () => {
  expect(tokenizingWork('The gateway holds the amount first. '.repeat(227))).toBeLessThan(60_000);
});
