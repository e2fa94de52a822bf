import { asObject, type JsonObject } from '../../completion/json';
import type { EmbeddingsCall, EmbeddingsProtocol, EmbeddingsRequest, ReadEmbeddings } from '../dialect';
import { renamedExtra, textsOf, tokenCount } from '../embeddings';
import { errorIn } from './classify-error';

/** Reported with every response of InvokeModel. */
const TOKENS_HEADER = 'x-amzn-bedrock-input-token-count';
/** "Cohere Embed": at most 96 texts. */
const MAX_TEXTS = 96;
/** Required by Cohere, which embeds stored texts and queries differently. */
const DEFAULT_INPUT_TYPE = 'search_document';

/** The body of InvokeModel, which is that of the vendor. */
interface Vendor {
  readonly names: RegExp;
  readonly maxInputs: number;
  encode(request: EmbeddingsRequest): object;
  embeddingsOf(response: JsonObject): readonly unknown[];
}

const titan: Vendor = {
  names: /(?:^|[./])amazon\.titan-embed-text/,
  maxInputs: 1,
  encode: ({ input, dimensions, extra }) => ({
    inputText: textsOf(input)[0],
    ...(dimensions === undefined ? {} : { dimensions }),
    ...renamedExtra(extra, { normalize: 'normalize' }),
  }),
  embeddingsOf: ({ embedding }) => [embedding],
};

const cohere: Vendor = {
  names: /(?:^|[./])cohere\.embed/,
  maxInputs: MAX_TEXTS,
  encode: ({ input, dimensions, extra }) => ({
    texts: textsOf(input),
    input_type: DEFAULT_INPUT_TYPE,
    embedding_types: ['float'],
    // Else a text that is too long is cut without an error.
    truncate: 'NONE',
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    ...renamedExtra(extra, { input_type: 'input_type' }),
  }),
  embeddingsOf({ embeddings }) {
    const floats = Array.isArray(embeddings) ? embeddings : asObject(embeddings)?.['float'];
    return Array.isArray(floats) ? (floats as unknown[]) : [];
  },
};

const vendors = [titan, cohere];

function vendorOf({ providerModel }: Pick<EmbeddingsCall, 'providerModel'>): Vendor | undefined {
  return vendors.find(({ names }) => names.test(providerModel));
}

/** Titan and Cohere with Bedrock's InvokeModel: Converse has no embeddings. */
export const embeddings: EmbeddingsProtocol = {
  problemOf: (call) =>
    vendorOf(call)
      ? undefined
      : 'is not a model of Titan (amazon.titan-embed-text…) or Cohere (cohere.embed…)',
  path: ({ providerModel }) => `/model/${encodeURIComponent(providerModel)}/invoke`,
  maxInputs: (call) => vendorOf(call)?.maxInputs ?? 1,
  encode(request, call) {
    const vendor = vendorOf(call);
    if (!vendor) throw new Error('the catalogue has an embedding model without a vendor');
    return vendor.encode(request);
  },
  read(response, header): ReadEmbeddings {
    const error = errorIn(response);
    if (error) return { error, embeddings: [], promptTokens: undefined };
    const vendor = response['embedding'] === undefined ? cohere : titan;
    return {
      embeddings: vendor.embeddingsOf(response),
      promptTokens: tokenCount(response['inputTextTokenCount']) ?? headerCount(header(TOKENS_HEADER)),
    };
  },
};

function headerCount(value: string | undefined): number | undefined {
  return value === undefined || !/^\d{1,9}$/.test(value) ? undefined : Number(value);
}
