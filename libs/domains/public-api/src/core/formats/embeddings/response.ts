import { chatResponse } from '../chat-response';
import { parseObject } from '../chunk-events';
import type { ResponseFormat } from '../response-format';

/** The router's list of embeddings, each as base64. */
interface EmbeddingList {
  readonly object: string;
  readonly data: readonly { readonly index: number; readonly embedding: string }[];
}

/** OpenAI's list of embeddings. It has no stream. */
export const embeddingsResponse: ResponseFormat = {
  ...chatResponse,
  response: (listJson, { requested }) =>
    requested.encodingFormat === 'base64' ? listJson : withNumbers(listJson),
};

/** In parts, one for each embedding. */
function* withNumbers(listJson: Uint8Array): Generator<string, void, void> {
  const { object: _, data, ...rest } = parseObject(listJson) as unknown as EmbeddingList;
  yield '{"object":"list","data":[';
  for (const [position, { index, embedding }] of data.entries()) {
    const numbers = JSON.stringify(numbersOf(embedding));
    yield `${position === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":${numbers}}`;
  }
  yield `],${JSON.stringify(rest).slice(1)}`;
}

/** Reads little-endian 32-bit floats. */
function numbersOf(base64: string): readonly number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
