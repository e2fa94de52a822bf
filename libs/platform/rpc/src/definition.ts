import type { CancelSignal } from '@gateway/base';
import type { BinaryWriter } from '@bufbuild/protobuf/wire';

/**
 * The shapes that ts-proto generates (`outputServices=generic-definitions`),
 * and the client and handler types derived from them. One generated definition
 * types both ends of a call.
 */

export interface MessageCodec<Message> {
  /** Writes into the given writer, or one of its own. */
  encode(message: Message, writer?: BinaryWriter): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

export interface ServiceDefinition {
  readonly name: string;
  /** With package, such as "gateway.auth.v1.Auth". */
  readonly fullName: string;
  readonly methods: Readonly<Record<string, GeneratedMethod>>;
}

/** A generated method, whose codecs are invariant in their message and so fit no common type. */
export interface GeneratedMethod {
  readonly name: string;
  readonly requestType: { decode(bytes: Uint8Array): unknown };
  readonly requestStream: boolean;
  readonly responseType: { decode(bytes: Uint8Array): unknown };
  readonly responseStream: boolean;
  /** What the contract's `idempotency_level` says. */
  readonly options?: { readonly idempotencyLevel?: string };
}

export type RequestOf<Method extends GeneratedMethod> = ReturnType<Method['requestType']['decode']>;
export type ResponseOf<Method extends GeneratedMethod> = ReturnType<Method['responseType']['decode']>;

/** Text pairs that travel beside a call, such as `traceparent` and `x-request-id`. Keys in lower case. */
export type CallMetadata = Readonly<Record<string, string>>;

export interface CallOptions {
  /** Cancels the call at both ends. */
  readonly signal?: CancelSignal;
  /** From now; replaces the client's default. The handler sees the same deadline. */
  readonly timeoutMs?: number;
  readonly metadata?: CallMetadata;
}

export interface CallContext {
  /** Aborts when the caller cancels, disconnects, or the deadline passes. */
  readonly signal: CancelSignal;
  /** Absent when the call has no deadline. */
  readonly deadlineUnixMs?: number;
  readonly metadata: CallMetadata;
}

/** What a caller holds: a method per RPC. Failures reject with a GatewayError. */
export type RpcClient<Service extends ServiceDefinition> = {
  readonly [Name in keyof Service['methods']]: Service['methods'][Name] extends { responseStream: true }
    ? (
        request: RequestOf<Service['methods'][Name]>,
        options?: CallOptions,
      ) => AsyncIterable<ResponseOf<Service['methods'][Name]>>
    : (
        request: RequestOf<Service['methods'][Name]>,
        options?: CallOptions,
      ) => Promise<ResponseOf<Service['methods'][Name]>>;
};

/** What a service implements. Expected refusals are values; a thrown GatewayError crosses as it is, anything else as a bare `internal_error`. */
export type RpcHandlers<Service extends ServiceDefinition> = {
  readonly [Name in keyof Service['methods']]: Service['methods'][Name] extends { responseStream: true }
    ? (
        request: RequestOf<Service['methods'][Name]>,
        context: CallContext,
      ) => AsyncIterable<ResponseOf<Service['methods'][Name]>>
    : (
        request: RequestOf<Service['methods'][Name]>,
        context: CallContext,
      ) => Promise<ResponseOf<Service['methods'][Name]>>;
};

/** A service with its handlers, ready for any transport. */
export interface BoundService {
  readonly definition: ServiceDefinition;
  readonly handlers: Readonly<Record<string, (request: never, context: CallContext) => unknown>>;
}

/** Binds handlers to their definition; the compiler checks that none is missing. */
export function bindService<Service extends ServiceDefinition>(
  definition: Service,
  handlers: RpcHandlers<Service>,
): BoundService {
  return { definition, handlers: handlers as unknown as BoundService['handlers'] };
}
