import type { Capability, Prices, TargetPlace, UnixMs } from '@gateway/base';
import type { TargetOptions } from '../dialects/dialect';
import type { DialectName } from '../dialects/registry';

export { capabilities } from '@gateway/base';

export const tokenEncodings = ['o200k_base', 'cl100k_base'] as const;
export type TokenEncoding = (typeof tokenEncodings)[number];

export const imageFormulas = ['tiles', 'patches', 'pixels', 'gemini_tiles', 'constant'] as const;
type ImageFormula = (typeof imageFormulas)[number];

/** How tokens are estimated; fixed per catalogue version, so that equal requests get equal estimates. */
export interface TokenCounting {
  readonly encoding: TokenEncoding;
  /** Multiplies the tokenizer's count. */
  readonly factor: number;
  readonly imageFormula: ImageFormula;
  /** Tokens per image with the formula "constant", and for images of unknown size. */
  readonly imageTokens: number;
  /** Tokens per page of a document. */
  readonly pageTokens: number;
}

/** All in milliseconds. */
interface ProviderTimeouts {
  /** Until the connection is established. */
  readonly connectMs: number;
  /** From sending a streaming request to its first event. */
  readonly firstEventMs: number;
  /** From sending a non-streaming request to the first byte of its response, which arrives after generation. */
  readonly firstByteMs: number;
  /** Between two reads of a response body. */
  readonly idleMs: number;
  /** The whole generation, including retries and earlier targets. */
  readonly totalMs: number;
}

export const credentialKinds = ['bearer', 'header', 'sigv4', 'google', 'entra'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/** How calls to a provider are authorized. Keys are never logged, and never part of a public text. */
export type CredentialSettings =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly apiKey: string }
  | { readonly kind: 'header'; readonly header: string; readonly apiKey: string }
  /** The identity is AWS's own chain, such as the role of the pod. */
  | { readonly kind: 'sigv4'; readonly region: string }
  /** `keyFile`: a service account key; without it Google's own chain, such as Workload Identity. */
  | { readonly kind: 'google'; readonly keyFile: string | undefined }
  /** Azure's own chain, such as a managed identity. */
  | { readonly kind: 'entra' };

export interface Provider {
  readonly name: string;
  /** The protocol that it speaks. */
  readonly dialect: DialectName;
  /** Without a trailing slash; the dialect appends its path. */
  readonly baseUrl: string;
  readonly credential: CredentialSettings;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: ProviderTimeouts;
  /** Concurrent calls. Further calls go to the next target or are rejected. */
  readonly maxConcurrent: number;
  /** Calls to one target per generation, including the first. */
  readonly maxAttempts: number;
  /** Whether requests carry a `traceparent` header; default false. */
  readonly sendsTraceparent?: boolean;
}

interface PriceChange {
  readonly from: UnixMs;
  readonly prices: Prices;
}

/** A provider and its name for the model. */
export interface Target {
  readonly provider: Provider;
  readonly providerModel: string;
  /** Where it processes requests, such as "eu"; undefined when unknown. */
  readonly region?: string | undefined;
  /** Names the target in signed parts of responses, without the provider's name. The same in every process. */
  readonly signer: string;
  readonly options: TargetOptions;
  /** Whether a request that timed out before its first event is retried once, here or at the next target. */
  readonly retryTimeouts: boolean;
  /** Its share of requests, in proportion to the other targets, where the model's routing is by weight. */
  readonly weight: number;
  /** What the operator pays the provider; undefined when unknown. Never shown to customers. */
  readonly cost?: Prices | undefined;
}

export const routings = ['order', 'weight', 'price', 'latency'] as const;
export type Routing = (typeof routings)[number];

export interface Model {
  readonly id: string;
  readonly name: string;
  readonly ownedBy: string;
  readonly createdUnixS: number;
  readonly disabled: boolean;
  /** The context window; of an embedding model, the length of one input. */
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly capabilities: readonly Capability[];
  readonly reasoningEfforts: readonly string[];
  readonly defaultReasoningEffort: string | undefined;
  readonly prices: Prices;
  /** Prices that replace `prices` at a time; in ascending order of `from`. Absent: none. */
  readonly priceChanges?: readonly PriceChange[];
  readonly tokenCounting: TokenCounting;
  /** Further top-level request fields that this model accepts, such as "top_k". */
  readonly extraParameters: readonly string[];
  /** The dimensions of an embedding model, the default first. Absent: a chat model. */
  readonly embeddingDimensions?: readonly number[];
  /** How the targets of a request are ordered. */
  readonly routing: Routing;
  /** Never empty. */
  readonly targets: readonly Target[];
}

export interface Catalogue {
  /** Ascends with each load. */
  readonly version: number;
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
}

export function placeOf({ provider, region }: Target): TargetPlace {
  return { provider: provider.name, region };
}

/** Identifies a target in metrics, logs and circuit breakers. */
export function targetKey(target: Target): string {
  return `${target.provider.name}/${target.providerModel}`;
}
