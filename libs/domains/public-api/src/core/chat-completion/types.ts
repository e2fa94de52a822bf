import type { NanoUsd, Prices } from '@gateway/base';

export type ImageFormula = 'tiles' | 'patches' | 'pixels' | 'gemini_tiles' | 'constant';

/** How a model's input tokens are estimated; fixed per version of the model catalogue. */
export interface TokenCounting {
  /** Name of the tokenizer: "o200k_base" or "cl100k_base". */
  readonly encoding: string;
  /** The tokenizer's count of the text is multiplied with this. */
  readonly factor: number;
  /** An {@link ImageFormula}; an unknown name counts as "constant". */
  readonly imageFormula: string;
  /** Tokens per image for "constant". */
  readonly imageTokens: number;
}

/** What validation needs to know of an entry of the model catalogue. */
export interface ModelView {
  readonly id: string;
  readonly disabled: boolean;
  /** Tokens that input and output may have together. */
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  /** Such as "tools", "vision", "json_mode", "reasoning", "logprobs". */
  readonly capabilities: readonly string[];
  /** Levels of reasoning_effort, as the caller is told them. */
  readonly reasoningEfforts: readonly string[];
  readonly prices: Prices;
  readonly tokenCounting: TokenCounting;
  /** Top-level fields beyond the schema that this model takes, such as "top_k". */
  readonly extraParameters: readonly string[];
  /** Whether it is given back what it thought in earlier turns (`reasoning_content`). */
  readonly forwardReasoningContent: boolean;
}

/** What a key and its organization allow. */
export interface CallerPolicy {
  /** Model ids; empty allows every model. */
  readonly allowedModels: readonly string[];
  /** The organization's cap on max_tokens. */
  readonly maxOutputTokensCap?: number | undefined;
  /** Whether `n` above 1 is allowed. */
  readonly multipleCompletions: boolean;
}

/**
 * Counts the tokens of a text. The same text and encoding always give the same
 * count, however loaded the process is. Answers at once or later; a count that
 * cannot be taken now rejects with the GatewayError `no_capacity`.
 */
export interface TokenCounter {
  /** @param owner - whose text it is: what its parts count may be remembered for the next text of this owner. */
  count(text: string, encoding: string, owner?: string): number | Promise<number>;
  /** Of a text so long that its size is taken for it; the same as `count` says of it. */
  countSize(size: TextSize): number;
}

/** What of a request's input is still to be counted, beside what is known of it. */
export interface UncountedInput {
  /** All texts that the model reads, or their size when they are too long to be counted otherwise. */
  readonly text: string | TextSize;
  /** Tokens of what the model's chat format adds. */
  readonly overheadTokens: number;
  readonly parts: InputParts;
}

/** What a request's input has besides the text of its messages. */
export interface InputParts {
  readonly images: number;
  /** What of the estimate stands for images. */
  readonly imageTokens: number;
  /** Tools, or a JSON schema for the answer. */
  readonly hasDefinitions: boolean;
}

/** The size of a text that is not at hand. */
export interface TextSize {
  /** UTF-16 code units. */
  readonly length: number;
  /** Of UTF-8. */
  readonly bytes: number;
}

/**
 * A chat completion that has passed every check but the one against the model's
 * context window, for which its input must be counted. Plain data, so that it
 * can come from another thread.
 */
export interface UncountedChatRequest {
  readonly modelId: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly n: number;
  readonly bodyJson: Uint8Array;
  readonly exactSeed?: bigint;
  readonly externalUser?: string;
  readonly input: UncountedInput;
  /** The output length as the caller gave it. */
  readonly output: { readonly max_tokens?: number; readonly max_completion_tokens?: number };
}

/** A chat completion that may be admitted. */
export interface ValidatedChatRequest {
  readonly model: ModelView;
  readonly stream: boolean;
  /** stream_options.include_usage; false without stream. */
  readonly includeUsage: boolean;
  readonly n: number;
  /**
   * The allow-listed fields as a JSON object, without model, stream,
   * stream_options, max_tokens, max_completion_tokens and n.
   */
  readonly bodyJson: Buffer;
  /** A seed that JSON numbers do not keep, which then is not in the body. */
  readonly exactSeed?: bigint;
  /** Per completion: what the caller asked for, or the most that fits. */
  readonly maxOutputTokens: number;
  readonly estimatedInputTokens: number;
  readonly inputParts: InputParts;
  /** The most that the request may cost; what is held on the balance. */
  readonly heldCost: NanoUsd;
  /** The caller's own name for its end user. */
  readonly externalUser?: string;
}
