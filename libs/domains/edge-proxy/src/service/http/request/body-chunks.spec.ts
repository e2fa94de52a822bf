import fc from 'fast-check';
import { fuzzRuns } from '@gateway/test-support';
import { BodyChunks } from './body-chunks';

const CHUNK_BYTES = 16;

function collect(reads: readonly Buffer[], expectedBytes: number): readonly Buffer[] {
  const chunks = new BodyChunks(CHUNK_BYTES, expectedBytes);
  for (const data of reads) chunks.add(data);
  return chunks.end();
}

it('returns all bytes in order, for any reads and any declared length', () => {
  const read = fc.uint8Array({ minLength: 1, maxLength: 3 * CHUNK_BYTES }).map((bytes) => Buffer.from(bytes));
  const expected = fc.integer({ min: 0, max: 10 * CHUNK_BYTES });
  fc.assert(
    fc.property(fc.array(read, { maxLength: 8 }), expected, (reads, declared) => {
      const chunks = collect(reads, declared);
      expect(Buffer.concat(chunks)).toEqual(Buffer.concat(reads));
      expect(chunks.every(({ length }) => length > 0)).toBe(true);
      if (reads.length > 1) expect(chunks.every(({ length }) => length <= CHUNK_BYTES)).toBe(true);
    }),
    fuzzRuns(),
  );
});

it('does not copy a body that arrives in one read', () => {
  const data = Buffer.alloc(5 * CHUNK_BYTES);
  expect(collect([data], data.length)[0]).toBe(data);
});

it('gives each chunk its own memory, of exactly its size when the length is declared', () => {
  const chunks = collect([Buffer.alloc(10), Buffer.alloc(10), Buffer.alloc(20)], 40);
  expect(chunks.map(({ length, buffer }) => [length, buffer.byteLength])).toEqual([
    [16, 16],
    [16, 16],
    [8, 8],
  ]);
});
