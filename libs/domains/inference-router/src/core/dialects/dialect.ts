import type { JsonObject } from '../completion/json';
import type { FinishReason } from '../completion/finish-reason';
import type { FailureKind } from '../failure/upstream-failure';
import type { Vendor } from './openai/rules';
import type { VendorRules } from './vendor-rules';

/**
 * The protocol of a family of providers: how a chat completion is requested, and how its stream, its response, its usage
 * and its errors are read. Pure.
 */
export interface Dialect {
  /** The path and query of a call, below the provider's address. */
  path(call: Pick<EncodeCall, 'providerModel' | 'stream' | 'options'>): string;
  readonly framing: Framing;
  /** Headers of the protocol. Those of the provider's configuration take precedence. */
  headers?(options: TargetOptions): Readonly<Record<string, string>>;
  /**
   * The provider's request as JSON.
   *
   * @param body the client's request, without the fields that `call` sets.
   * @param turn waits for the next turn of the event loop; large bodies use several.
   * @throws UpstreamFailure `rejected`, with a public message, for a request that the dialect cannot express.
   */
  encodeRequest(
    body: Uint8Array,
    call: EncodeCall,
    turn: () => Promise<void>,
  ): Uint8Array | Promise<Uint8Array>;
  /** Whether `encodeRequest` parses the body at once, which for a large one takes a thread. */
  parsesBody(body: Uint8Array, call: EncodeCall): boolean;
  /** What the vendor of the model accepts. */
  rulesOf(call: Pick<EncodeCall, 'providerModel' | 'options'>): VendorRules;
  /** For the events of one stream of `n` completions. Further completions are dropped. */
  createDecoder(n: number, providerModel?: string): EventDecoder;
  /**
   * Reads a complete non-streaming response of `n` completions. Further completions are dropped.
   *
   * @throws UpstreamFailure for content that is unreadable.
   */
  readResponse(response: JsonObject, n: number): ReadResponse;
  /**
   * Reads a response that is not 2xx. An unreadable body is an error without fields.
   *
   * @param header a response header, by lower-case name.
   */
  readError(body: unknown, header: (name: string) => string | undefined): ProviderError;
  /** @param status of the response; undefined for an error within a 2xx response. */
  kindOfError(error: ProviderError, status: number | undefined, providerModel: string): FailureKind;
  /**
   * Whether a rejected request was rejected for a field that the gateway added. Absent where the fields of errors are not
   * those of clients.
   *
   * @param body the client's request, as for `encodeRequest`.
   */
  refusesOwnField?(error: ProviderError, body: Uint8Array): 'output_limit_name' | 'other' | undefined;
  /** Absent: providers with this protocol have no embeddings. */
  readonly embeddings?: EmbeddingsProtocol;
}

/** The part of a call on which its encoding depends. */
export type EmbeddingsCall = Pick<EncodeCall, 'providerModel' | 'options'>;

/** A text or its tokens. */
export type EmbeddingInput = string | readonly number[];

/** A part of a request: some of its inputs, with its other fields. */
export interface EmbeddingsRequest {
  readonly input: readonly EmbeddingInput[];
  readonly dimensions: number | undefined;
  /** The `extra_parameters` of the model. */
  readonly extra: JsonObject;
}

/** How the embeddings of a family of providers are requested and read. Errors are those of the dialect. Pure. */
export interface EmbeddingsProtocol {
  /** Why a model cannot be called; undefined if it can. Checked when the catalogue is loaded. */
  problemOf?(call: EmbeddingsCall): string | undefined;
  /** The path and query of a call, below the provider's address. */
  path(call: EmbeddingsCall): string;
  /** The most inputs of one call; the others are sent in further calls. */
  maxInputs(call: EmbeddingsCall): number;
  /** Whether embeddings are requested as base64, which is read in a moment; numbers by default. */
  returnsBase64?(call: EmbeddingsCall): boolean;
  /** @throws UpstreamFailure `rejected`, with a public message, for a request that the provider has no form for. */
  encode(request: EmbeddingsRequest, call: EmbeddingsCall): object;
  /** @param header of the response, by lower-case name. */
  read(response: JsonObject, header: (name: string) => string | undefined): ReadEmbeddings;
}

export interface ReadEmbeddings {
  /** The provider reports a failure instead of embeddings. */
  readonly error?: ProviderError;
  /** In the order of the inputs: lists of numbers, or base64 of little-endian 32-bit floats. */
  readonly embeddings: readonly unknown[];
  /** Undefined: not reported. */
  readonly promptTokens: number | undefined;
}

/** How the events of a stream are separated. */
export type Framing = 'sse' | 'aws_eventstream';

/** The parts of a call that determine its encoding. */
export interface EncodeCall {
  readonly providerModel: string;
  readonly stream: boolean;
  /** Per completion, reasoning included. */
  readonly maxOutputTokens: number;
  readonly n: number;
  /** A seed of more than 53 bits; the body then has none. */
  readonly exactSeed: bigint | undefined;
  /** Names the target in its signatures. */
  readonly signer: string;
  /** Whether signatures that name no target count as the target's own: at the first target. */
  readonly ownsUntagged: boolean;
  readonly options: TargetOptions;
}

export const maxTokensParameters = ['max_tokens', 'max_completion_tokens'] as const;
/** The request field that limits the output. Newer models at some providers accept only the second one. */
type MaxTokensParameter = (typeof maxTokensParameters)[number];

/** Clouds whose paths or bodies differ from those of the vendor. */
export const hosts = ['vertex', 'bedrock', 'azure_deployments'] as const;

/** Differences between the models of one dialect, set per target. */
export interface TargetOptions {
  readonly maxTokensParameter: MaxTokensParameter;
  /** Whether the provider refuses "stream_options". Its streams report usage without them. */
  readonly refusesStreamOptions?: boolean;
  /** Whether messages of role "developer" are sent as "system". */
  /** Whether the provider refuses "stream" with a JSON response format. Such streams are requested whole. */
  readonly refusesJsonStreams?: boolean;
  readonly developerAsSystem: boolean;
  /** The service behind OpenAI's protocol, where it has rules of its own. */
  readonly vendor?: Vendor | undefined;
  /** Whether results of tools without a call, or apart from it, are put right; default false. */
  readonly repairsToolHistory?: boolean;
  /** Whether `reasoning_content` of earlier turns is sent. Some models require it, others reject it. */
  readonly forwardReasoningContent: boolean;
  /** The cloud that serves the model, where it changes the path or the body of a request; undefined: the vendor itself. */
  readonly host: (typeof hosts)[number] | undefined;
  /** Request fields that the model refuses, such as "temperature". They are not sent. */
  readonly drops: readonly string[];
  /** Tokens by `reasoning_effort`, for models that have a budget instead of levels. Undefined: the provider's levels. */
  readonly reasoningBudgets: Readonly<Record<string, number>> | undefined;
}

/** Decodes the events of one stream, in order. */
export interface EventDecoder {
  /**
   * @param data the text of an event: the `data` of a server-sent event, or the JSON of an event-stream frame.
   * @throws UpstreamFailure for an event that is unreadable.
   */
  decode(data: string): DecodedEvent;
  /**
   * Divides an event whose only content is text into what precedes and follows the JSON string body of the text, so
   * that events which differ only in it need no parsing. Undefined for all other events.
   */
  templateOf(data: string): EventTemplate | undefined;
}

export interface EventTemplate {
  readonly before: string;
  readonly after: string;
  /** Whether white space of any length may follow the text's closing quote and the braces in `after`. */
  readonly padded?: boolean;
  /** The index of the choice. */
  readonly index: number;
}

export interface DecodedEvent {
  /** The provider reports a failure instead of a part of the completion. */
  readonly error?: ProviderError;
  readonly choices: readonly ChoiceDelta[];
  /** Everything that was reported so far; replaces an earlier report. */
  readonly usage?: ReportedUsage;
  readonly systemFingerprint?: unknown;
  /** The stream has no further event. */
  readonly done?: boolean;
}

export interface ReadResponse {
  /** The provider reports a failure instead of a completion. */
  readonly error?: ProviderError;
  /** Empty when the response has no completion. */
  readonly choices: readonly ChoiceDelta[];
  readonly usage: ReportedUsage | undefined;
  readonly systemFingerprint?: unknown;
}

/** What an event adds to a completion, or a whole completion. */
export interface ChoiceDelta {
  readonly index: number;
  readonly content: string | null;
  readonly refusal: string | null;
  /** Readable reasoning. */
  readonly reasoning: string | null;
  /** Parts of the reasoning that later turns have to repeat unchanged. */
  readonly reasoningDetails?: readonly ReasoningDetail[];
  readonly toolCalls: readonly ToolCallDelta[];
  readonly logprobs: Logprobs | null;
  readonly finishReason: FinishReason | undefined;
  /** The stop sequence of the request that ended it; empty when the provider does not say which. */
  readonly stopSequence?: string | undefined;
}

export interface Logprobs {
  content: unknown[] | null;
  refusal: unknown[] | null;
}

export const reasoningTypes = ['reasoning.text', 'reasoning.summary', 'reasoning.encrypted'] as const;

/** As in the public field `reasoning_details`. */
export interface ReasoningDetail {
  readonly type: (typeof reasoningTypes)[number];
  /** In a stream, texts and signatures may arrive in parts with the same index. */
  readonly index?: number;
  /** The text of `reasoning.text`. */
  readonly text?: string;
  readonly signature?: string;
  /** The summary of `reasoning.summary`. */
  readonly summary?: string;
  /** The encrypted data of `reasoning.encrypted`. */
  readonly data?: string;
  /** As OpenRouter names the detail and its vendor. */
  readonly id?: string;
  readonly format?: string;
  /** The target that signed it; added by the router where the model has several. */
  readonly signed_by?: string;
}

/** A tool call, or a part of one. Missing fields are undefined. */
export interface ToolCallDelta {
  /** The position of the call in its completion. */
  readonly index: number;
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** JSON text, appended to that of earlier deltas. */
  readonly arguments: string;
  /** Passed to the client, which repeats it in later turns; for example `{google: {thought_signature}}`. */
  readonly extraContent?: JsonObject;
}

/**
 * Tokens as a provider reports them, in the terms of the public usage block: the prompt includes cached, written and image
 * tokens, the completion includes reasoning. Undefined: not reported, or not a whole number.
 */
export interface ReportedUsage {
  readonly promptTokens: number | undefined;
  /** Read from the provider's cache. */
  readonly cachedTokens: number | undefined;
  /** Written to the provider's cache for its default lifetime, usually five minutes. */
  readonly cacheWriteTokens: number | undefined;
  /** Written to the provider's cache for one hour. */
  readonly cacheWrite1hTokens: number | undefined;
  readonly imageTokens: number | undefined;
  readonly completionTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
}

/** A provider's error in normalized form. Missing fields are empty. */
export interface ProviderError {
  readonly message: string;
  readonly code: string;
  readonly type: string;
  readonly param: string | undefined;
  /** The wait that the body of the error requests. */
  readonly retryAfterMs?: number;
}
