import type { RequestedResponse } from '../formats/requested-response';
import type {
  CacheWriteLifetime,
  JobCaller,
  NanoUsd,
  Prices,
  Tag,
  TargetPlace,
  TargetRules,
} from '@gateway/base';

export type ImageFormula = 'tiles' | 'patches' | 'pixels' | 'gemini_tiles' | 'constant';

/** How a model's input tokens are estimated; fixed per version of the model catalogue. */
export interface TokenCounting {
  /** Name of the tokenizer: "o200k_base" or "cl100k_base". */
  readonly encoding: string;
  /** The tokenizer's count of the text is multiplied by this factor. */
  readonly factor: number;
  /** An {@link ImageFormula}; an unknown name counts as "constant". */
  readonly imageFormula: string;
  /** Tokens per image for "constant". */
  readonly imageTokens: number;
  /** Tokens per page of a document. */
  readonly pageTokens: number;
}

/** The properties of a model that validation reads. */
export interface ModelView {
  readonly id: string;
  readonly disabled: boolean;
  /** Maximum tokens of input and output together; of an embedding model, of one input. */
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  /** Such as "tools", "vision", "files", "json_mode", "reasoning", "logprobs". */
  readonly capabilities: readonly string[];
  /** Accepted levels of reasoning_effort, in the order of the error message. */
  readonly reasoningEfforts: readonly string[];
  readonly prices: Prices;
  /** Whether requests without cache points write to the provider's prompt cache as well. */
  readonly writesCacheImplicitly: boolean;
  readonly tokenCounting: TokenCounting;
  /** Top-level fields beyond the schema that this model accepts, such as "top_k". */
  readonly extraParameters: readonly string[];
  /** Whether the reasoning of earlier turns (`reasoning_content`) is sent to it. */
  readonly forwardReasoningContent: boolean;
  /** Where its requests may be sent. */
  readonly targetPlaces: readonly TargetPlace[];
  /** The dimensions of an embedding model, the default first. Absent or empty: a chat model. */
  readonly embeddingDimensions?: readonly number[];
}

/** The restrictions of a key and its organization. */
export interface CallerPolicy {
  /** Model ids; empty allows every model. */
  readonly allowedModels: readonly string[];
  /** The organization's; undefined: every target. */
  readonly targetRules?: TargetRules | undefined;
  /** The organization's cap on max_tokens. */
  readonly maxOutputTokensCap?: number | undefined;
  /** Whether `n` above 1 is allowed. */
  readonly multipleCompletions: boolean;
  /** Whether a stream may have a JSON response format. */
  readonly jsonStreaming: boolean;
  /** The organization's. */
  readonly usageTags?: readonly string[];
}

/**
 * Counts the tokens of a text. The same text and encoding always have the same
 * count, independent of load. Synchronous or asynchronous; rejects with the
 * GatewayError `no_capacity` when overloaded.
 */
export interface TokenCounter {
  /** @param caller - counts of the text's segments may be cached for later texts of the same owner. */
  count(text: string, encoding: string, caller?: JobCaller): number | Promise<number>;
  /** For a text so long that it is counted by its size; same result as `count`. */
  countSize(size: TextSize): number;
}

/**
 * Counts the pages of PDF documents, without blocking the event loop. The same documents always have the same
 * result. Rejects with the GatewayError `no_capacity` when overloaded.
 */
export interface PageCounter {
  count(documents: readonly Uint8Array[], caller?: JobCaller): Promise<PageCounts>;
}

export interface DocumentSize {
  readonly pages: number;
  /** About the most characters that a reader finds on them. */
  readonly characters: number;
}

/** The pages of each document, or the first document whose pages cannot be counted. */
export type PageCounts =
  | { readonly kind: 'counted'; readonly documents: readonly DocumentSize[] }
  | { readonly kind: 'unreadable'; readonly document: number; readonly problem: string };

/** A document whose pages are not counted yet. */
export interface UncountedDocument {
  /** The path of its data in the request, for errors. */
  readonly path: string;
  readonly pdf: Uint8Array;
}

/** A request's input before its tokens are counted. */
export interface UncountedInput {
  /** All texts that the model reads, or their size when they are too long to tokenize. */
  readonly text: string | TextSize;
  /** Tokens that the model's chat format adds. */
  readonly overheadTokens: number;
  readonly parts: InputParts;
  /** Present where the request has documents. */
  readonly documents?: readonly UncountedDocument[];
  /** Present in requests for embeddings. */
  readonly embeddings?: EmbeddingsInput;
}

/** The inputs of a request for embeddings, beyond their joined text. */
export interface EmbeddingsInput {
  readonly inputs: number;
  /** The tokens of all inputs that are lists of tokens. */
  readonly tokens: number;
  /** Inputs that may exceed the context length alone, by their path. They are not part of the joined text. */
  readonly longTexts: readonly { readonly path: string; readonly text: string | TextSize }[];
}

/** The parts of a request's input other than message text. */
export interface InputParts {
  /** Images, and pages of documents. */
  readonly images: number;
  /** Their estimated tokens. */
  readonly imageTokens: number;
  /** Whether it has tools or a JSON schema for the response. */
  readonly hasDefinitions: boolean;
}

/** The size of a text, without the text. */
export interface TextSize {
  /** UTF-16 code units. */
  readonly length: number;
  /** The size in UTF-8. */
  readonly bytes: number;
}

/**
 * A chat completion, or a request for embeddings, that has passed every check except the model's context
 * window, for which its input must be counted. Plain data, so that it can be sent
 * between threads.
 */
export interface UncountedChatRequest {
  readonly modelId: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly n: number;
  readonly bodyJson: Uint8Array;
  readonly exactSeed?: bigint;
  /** See toolLoopSigner. */
  readonly signedBy?: string;
  /** Set only for a model that supports it. */
  readonly promptCacheKey?: string;
  readonly externalUser?: string;
  /** See usageTagsOf. */
  readonly tags?: Tag[];
  readonly input: UncountedInput;
  /** See isOutputVisible. */
  readonly isOutputVisible: boolean;
  /** See isJsonMode. */
  readonly isJson: boolean;
  /** The longest lifetime for which it can write to the provider's prompt cache. */
  readonly cacheWrites: CacheWriteLifetime;
  /** The output length as sent by the client. */
  readonly output: { readonly max_tokens?: number; readonly max_completion_tokens?: number };
  /** Absent in chat completions. */
  readonly response?: RequestedResponse;
}

/** A chat completion, or a request for embeddings, that has passed every check. */
export interface ValidatedChatRequest {
  readonly model: ModelView;
  readonly stream: boolean;
  /** stream_options.include_usage; false without stream. */
  readonly includeUsage: boolean;
  readonly n: number;
  /**
   * The allowlisted fields as a JSON object, without model, stream,
   * stream_options, max_tokens, max_completion_tokens and n.
   */
  readonly bodyJson: Buffer;
  /** A seed that a JavaScript number cannot represent; it is then absent from `bodyJson`. */
  readonly exactSeed?: bigint;
  /** Per completion: the requested length, or the maximum that fits; 0 for embeddings. */
  readonly maxOutputTokens: number;
  readonly estimatedInputTokens: number;
  /** The input tokens that the hold covers. */
  readonly heldInputTokens: number;
  readonly inputParts: InputParts;
  /** See isOutputVisible. */
  readonly isOutputVisible: boolean;
  /** See isJsonMode. */
  readonly isJson: boolean;
  /** The longest lifetime for which it can write to the provider's prompt cache. */
  readonly cacheWrites: CacheWriteLifetime;
  /** The maximum cost of the request, which is held. */
  readonly heldCostNanoUsd: NanoUsd;
  /** See toolLoopSigner. */
  readonly signedBy?: string;
  /** Set only for a model that supports it. */
  readonly promptCacheKey?: string;
  /** The client's identifier of its end user. */
  readonly externalUser?: string;
  /** See usageTagsOf. */
  readonly tags?: Tag[];
  /** Absent in chat completions. */
  readonly response?: RequestedResponse;
}
