import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import { BodyPieces } from './body-pieces';

const PIECE = 16;

function collect(chunks: readonly Buffer[], expectedBytes: number): readonly Buffer[] {
  const pieces = new BodyPieces(PIECE, expectedBytes);
  for (const chunk of chunks) pieces.add(chunk);
  return pieces.end();
}

it('all bytes come out in order, however they came and whatever length was announced', () => {
  const chunk = fc.uint8Array({ minLength: 1, maxLength: 3 * PIECE }).map((bytes) => Buffer.from(bytes));
  const expected = fc.integer({ min: 0, max: 10 * PIECE });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), expected, (chunks, announced) => {
      const pieces = collect(chunks, announced);
      expect(Buffer.concat(pieces)).toEqual(Buffer.concat(chunks));
      expect(pieces.every(({ length }) => length > 0)).toBe(true);
      if (chunks.length > 1) expect(pieces.every(({ length }) => length <= PIECE)).toBe(true);
    }),
    fuzzRuns(),
  );
});

it('a body of one chunk is not copied', () => {
  const chunk = Buffer.alloc(5 * PIECE);
  expect(collect([chunk], chunk.length)[0]).toBe(chunk);
});

it('pieces of an announced length lie alone in memory of just their size', () => {
  const pieces = collect([Buffer.alloc(10), Buffer.alloc(10), Buffer.alloc(20)], 40);
  expect(pieces.map(({ length, buffer }) => [length, buffer.byteLength])).toEqual([
    [16, 16],
    [16, 16],
    [8, 8],
  ]);
});
