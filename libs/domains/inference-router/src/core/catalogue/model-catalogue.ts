import type { Prices } from '@gateway/base';

/** What a model can do beyond plain text. The first four are shown to callers. */
export const capabilities = [
  'tools',
  'vision',
  'json_mode',
  'reasoning',
  'logprobs',
  'parallel_tool_calls',
  'logit_bias',
  'verbosity',
  'prompt_cache',
  'prediction',
] as const;

type Capability = (typeof capabilities)[number];

export const tokenEncodings = ['o200k_base', 'cl100k_base'] as const;
export type TokenEncoding = (typeof tokenEncodings)[number];

export const imageFormulas = ['tiles', 'patches', 'pixels', 'gemini_tiles', 'constant'] as const;
type ImageFormula = (typeof imageFormulas)[number];

/** How tokens are estimated; fixed per catalogue version, so that a request always gets the same estimate. */
export interface TokenCounting {
  readonly encoding: TokenEncoding;
  /** The tokenizer's count is multiplied with this. */
  readonly factor: number;
  readonly imageFormula: ImageFormula;
  /** Tokens per image for "constant", and when the size is unknown. */
  readonly imageTokens: number;
}

/** The request field that limits the output. Newer models at some providers accept only the second. */
export const maxTokensParameters = ['max_tokens', 'max_completion_tokens'] as const;
type MaxTokensParameter = (typeof maxTokensParameters)[number];

/** All in milliseconds. */
interface ProviderTimeouts {
  /** Until the connection stands. */
  readonly connectMs: number;
  /** From sending a streamed request to its first event. */
  readonly firstEventMs: number;
  /** From sending a request that is not streamed to the first byte of its answer, which comes when all is generated. */
  readonly firstByteMs: number;
  /** Between two reads of an answer that has begun. */
  readonly idleMs: number;
  /** The whole generation, with its retries and the targets before this one. */
  readonly totalMs: number;
}

/** A server that speaks the OpenAI chat completions protocol. */
export interface Provider {
  readonly name: string;
  /** Without a trailing slash; "/chat/completions" is appended. */
  readonly baseUrl: string;
  /** Sent as a bearer token. Never logged, never in a public text. */
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: ProviderTimeouts;
  /** Calls under way at once; what comes beyond goes to the next target or is refused. */
  readonly maxConcurrent: number;
  /** Calls to one target of this provider for one generation, the first included. */
  readonly maxAttempts: number;
  readonly maxTokensParameter: MaxTokensParameter;
  /** Whether messages of role "developer" are sent as "system". */
  readonly developerAsSystem: boolean;
  /** Whether it is told which trace a call belongs to; not when absent. */
  readonly sendsTraceparent?: boolean;
}

/** One way to get a model: a provider and its name for the model. */
export interface Target {
  readonly provider: Provider;
  readonly providerModel: string;
  readonly maxTokensParameter: MaxTokensParameter;
  /** Whether a request that timed out here before its first event is tried once more, here or at the next target. */
  readonly retryTimeouts: boolean;
  /** Whether it is sent the `reasoning_content` of earlier turns, which some models need and others refuse. */
  readonly forwardReasoningContent: boolean;
}

export interface Model {
  readonly id: string;
  readonly name: string;
  readonly ownedBy: string;
  readonly createdUnixS: number;
  readonly disabled: boolean;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly capabilities: readonly Capability[];
  readonly reasoningEfforts: readonly string[];
  readonly defaultReasoningEffort: string | undefined;
  readonly prices: Prices;
  readonly tokenCounting: TokenCounting;
  /** Further top-level request fields this model takes, such as "top_k". */
  readonly extraParameters: readonly string[];
  /** In the order they are tried; never empty. */
  readonly targets: readonly Target[];
}

export interface Catalogue {
  /** Ascends with every load. */
  readonly version: number;
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
}

/** Names a target in metrics and as the circuit breaker's key. */
export function targetKey(target: Target): string {
  return `${target.provider.name}/${target.providerModel}`;
}
