import { nanoUsd } from '@gateway/base';
import { NO_USAGE } from '@gateway/base';
import { embeddingBase64, renderEmbeddings } from './embeddings';

const HEAD = { generationId: 'gen-1', createdUnixS: 1, modelId: 'a'.repeat(128) };
/** The size of an event with a stored response; the rest of the event is far smaller than the difference. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
const OTHER_BYTES = 16 * 1024;

it.each([
  ['numbers', [0.5, -1]],
  ['base64', Buffer.from(Float32Array.from([0.5, -1]).buffer).toString('base64')],
])('reads an embedding as %s', (_, embedding) => {
  expect(embeddingBase64(embedding, 2)).toBe(
    Buffer.from([0, 0, 0, 0x3f, 0, 0, 0x80, 0xbf]).toString('base64'),
  );
});

it.each([
  ['no list', undefined, 'failed'],
  ['a text in it', [1, 'a'], 'failed'],
  ['a null in it', [1, null], 'failed'],
  ['too few numbers', [1], 'misconfigured'],
  ['too many numbers', [1, 2, 3], 'misconfigured'],
  ['nothing', '', 'misconfigured'],
])('fails for %s', (_, embedding, kind) => {
  expect(() => embeddingBase64(embedding, 2)).toThrow(expect.objectContaining({ kind }) as Error);
});

it.each([
  [1_000, 1_536],
  [2_048, 750],
  [500, 3_072],
  [23, 65_536],
])('stores the largest responses in an event: %i embeddings of %i numbers', (inputs, length) => {
  const one = embeddingBase64(
    Array.from({ length }, () => 1),
    length,
  );
  const json = renderEmbeddings(
    HEAD,
    Array.from({ length: inputs }, () => one),
    { ...NO_USAGE, promptTokens: 300_000 },
    nanoUsd(1n),
  );
  expect(json.length).toBeLessThan(MAX_EVENT_BYTES - OTHER_BYTES);
});
