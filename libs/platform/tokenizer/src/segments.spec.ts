import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import { MAX_SEGMENT_LENGTH, MAX_RUN_LENGTH, segmentsOf, tokenizingWork } from './segments';

const runs = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', ' ', '\n', '\u4e00', '\u{1f600}', '\udc00', '\ud800', 'word '),
      fc.nat(1_500),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.map(([unit, count]) => unit.repeat(count)).join(''));

it('segments join to the text, and each is within the limit', () => {
  fc.assert(
    fc.property(runs, (text) => {
      const segments = segmentsOf(text);
      expect(segments.join('')).toBe(text);
      // One more for a surrogate pair at the limit.
      for (const segment of segments) expect(segment.length).toBeLessThanOrEqual(MAX_SEGMENT_LENGTH + 1);
    }),
    fuzzRuns(),
  );
});

it('no segment has a longer unbroken run than the limit', () => {
  fc.assert(
    fc.property(runs, (text) => {
      const lengths = segmentsOf(text).flatMap((segment) =>
        (segment.match(/[ \n]+|[^ \n]+/g) ?? []).map((run) => run.length),
      );
      expect(Math.max(0, ...lengths)).toBeLessThanOrEqual(MAX_RUN_LENGTH + 1);
    }),
    fuzzRuns(),
  );
});

it('surrogate pairs are not split', () => {
  const text = `x${'\u{1f600}'.repeat(3_000)}`;
  for (const segment of segmentsOf(text)) {
    expect(segment.charCodeAt(0) >> 10).not.toBe(0xdc00 >> 10);
  }
});

it('ordinary text is split before the white space of a word', () => {
  const segments = segmentsOf('word after word '.repeat(1_000));
  expect(segments.length).toBeGreaterThan(3);
  for (const segment of segments.slice(1)) expect(segment).toMatch(/^ \w/);
});

it('short text is one segment, empty text has none', () => {
  expect(segmentsOf('Hello, world')).toEqual(['Hello, world']);
  expect(segmentsOf('')).toEqual([]);
});

it('work grows with the square of an unbroken run, up to the length of a run', () => {
  expect(tokenizingWork('')).toBe(0);
  expect(tokenizingWork('abcd ef')).toBe(4 * 4 + 1 + 2 * 2);
  expect(tokenizingWork('a'.repeat(MAX_RUN_LENGTH * 3))).toBe(3 * MAX_RUN_LENGTH ** 2);
});

it('prose of the inline size is well below the inline work limit', () => {
  expect(tokenizingWork('The gateway holds the amount first. '.repeat(227))).toBeLessThan(60_000);
});
