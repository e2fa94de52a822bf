import { asObject, parseJson, type JsonObject } from '../completion/json';
import type { Target } from '../catalogue/model-catalogue';
import type { EmbeddingInput } from '../dialects/dialect';
import { dialects } from '../dialects/registry';

/** A request for embeddings as a provider gets it. */
export interface EncodedEmbeddings {
  /** In the order of the inputs. */
  readonly calls: readonly { readonly body: Uint8Array; readonly inputs: number }[];
  /** The requested length of each embedding; undefined for the default of the model. */
  readonly dimensions: number | undefined;
}

interface EmbeddingsBody extends JsonObject {
  readonly input: EmbeddingInput[];
  readonly dimensions?: number;
}

const encoder = new TextEncoder();

/** @throws UpstreamFailure `rejected` for a request that the dialect cannot express. */
export function encodeEmbeddings(
  bodyJson: Uint8Array,
  target: Pick<Target, 'provider' | 'providerModel' | 'options'>,
): EncodedEmbeddings {
  const protocol = dialects[target.provider.dialect].embeddings;
  if (!protocol) throw new Error('the catalogue has an embedding model of a dialect without embeddings');
  const { input, dimensions, ...fields } = readBody(bodyJson);
  const { drops } = target.options;
  const extra = Object.fromEntries(Object.entries(fields).filter(([name]) => !drops.includes(name)));
  const size = protocol.maxInputs(target);
  const calls = Array.from({ length: Math.ceil(input.length / size) }, (_, index) => {
    const part = input.slice(index * size, (index + 1) * size);
    const sent = { input: part, extra, dimensions: drops.includes('dimensions') ? undefined : dimensions };
    return { body: encoder.encode(JSON.stringify(protocol.encode(sent, target))), inputs: part.length };
  });
  return { calls, dimensions };
}

function readBody(bytes: Uint8Array): EmbeddingsBody {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const body = asObject(parseJson(text));
  if (!body || !Array.isArray(body['input'])) throw new Error('body_json is not a request for embeddings');
  return body as EmbeddingsBody;
}
