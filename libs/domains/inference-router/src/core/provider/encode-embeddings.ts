import { asObject, parseJson, type JsonObject } from '../completion/json';
import type { Model, Target } from '../catalogue/model-catalogue';
import type { EmbeddingInput } from '../dialects/dialect';
import { dialects } from '../dialects/registry';

/** A request for embeddings as a provider gets it. */
export interface EncodedEmbeddings {
  /** In the order of the inputs. */
  readonly calls: readonly { readonly body: Uint8Array; readonly inputs: number }[];
  /** The length of each embedding. */
  readonly dimensions: number;
}

interface EmbeddingsBody extends JsonObject {
  readonly input: EmbeddingInput[];
  readonly dimensions?: number;
}

const encoder = new TextEncoder();

/** The most numbers of one response as JSON: reading them occupies the event loop for about 25 ms. */
const MAX_NUMBERS = 131_072;

/** @throws UpstreamFailure `rejected` for a request that the dialect cannot express. */
export function encodeEmbeddings(
  bodyJson: Uint8Array,
  target: Pick<Target, 'provider' | 'providerModel' | 'options'>,
  { embeddingDimensions: [first = 1] = [] }: Pick<Model, 'embeddingDimensions'>,
): EncodedEmbeddings {
  const protocol = dialects[target.provider.dialect].embeddings;
  if (!protocol) throw new Error('the catalogue has an embedding model of a dialect without embeddings');
  const { input, dimensions, ...fields } = readBody(bodyJson);
  const { drops } = target.options;
  const extra = Object.fromEntries(Object.entries(fields).filter(([name]) => !drops.includes(name)));
  const length = dimensions ?? first;
  const readable = protocol.returnsBase64?.(target)
    ? Infinity
    : Math.max(1, Math.floor(MAX_NUMBERS / length));
  const size = Math.min(protocol.maxInputs(target), readable);
  const calls = Array.from({ length: Math.ceil(input.length / size) }, (_, index) => {
    const part = input.slice(index * size, (index + 1) * size);
    const sent = { input: part, extra, dimensions: drops.includes('dimensions') ? undefined : dimensions };
    return { body: encoder.encode(JSON.stringify(protocol.encode(sent, target))), inputs: part.length };
  });
  return { calls, dimensions: length };
}

function readBody(bytes: Uint8Array): EmbeddingsBody {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const body = asObject(parseJson(text));
  if (!body || !Array.isArray(body['input'])) throw new Error('body_json is not a request for embeddings');
  return body as EmbeddingsBody;
}
