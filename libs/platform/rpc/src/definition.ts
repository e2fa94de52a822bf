import type { CallActor } from '@gateway/actors';
import type { CancelSignal } from '@gateway/base';
import type { BinaryWriter } from '@bufbuild/protobuf/wire';

/**
 * The types that ts-proto generates (`outputServices=generic-definitions`), and
 * the client and handler types derived from them.
 */

export interface MessageCodec<Message> {
  /** Writes to the given writer, or to a new one. */
  encode(message: Message, writer?: BinaryWriter): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

export interface ServiceDefinition {
  readonly name: string;
  /** With package, such as "gateway.auth.v1.Auth". */
  readonly fullName: string;
  readonly methods: Readonly<Record<string, GeneratedMethod>>;
}

/** A generated method. Its codecs are invariant in their message type, so only `decode` can be typed here. */
export interface GeneratedMethod {
  readonly name: string;
  readonly requestType: { decode(bytes: Uint8Array): unknown };
  readonly requestStream: boolean;
  readonly responseType: { decode(bytes: Uint8Array): unknown };
  readonly responseStream: boolean;
  /** The contract's options, such as its `idempotency_level`. */
  readonly options?: {
    readonly idempotencyLevel?: string;
    /** Custom options; `@gateway/contracts/callers` reads `callers`. */
    readonly _unknownFields?: unknown;
  };
}

export type RequestOf<Method extends GeneratedMethod> = ReturnType<Method['requestType']['decode']>;
export type ResponseOf<Method extends GeneratedMethod> = ReturnType<Method['responseType']['decode']>;

/** Headers of a call, such as `traceparent` and `x-request-id`. Names in lower case. */
export type CallMetadata = Readonly<Record<string, string>>;

export interface CallOptions {
  /** Cancels the call at both ends. */
  readonly signal?: CancelSignal;
  /** Overrides the client's default deadline. The handler sees the same deadline. */
  readonly timeoutMs?: number;
  readonly metadata?: CallMetadata;
}

export interface CallContext {
  /** Aborts when the caller cancels, disconnects, or the deadline passes. */
  readonly signal: CancelSignal;
  /** Absent if the call has no deadline. */
  readonly deadlineUnixMs?: number;
  readonly metadata: CallMetadata;
  /** The verified person or management token; absent when the method's contract declares no permission. */
  readonly actor?: CallActor | undefined;
}

/** A client: a method per RPC. Failures reject with a GatewayError. */
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

/**
 * The handlers of a service. Expected refusals are return values. Callers receive the public fields of a thrown
 * GatewayError, and a bare `internal_error` for anything else.
 */
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

/** A service with its handlers, for any transport. */
export interface BoundService {
  readonly definition: ServiceDefinition;
  readonly handlers: Readonly<Record<string, (request: never, context: CallContext) => unknown>>;
  /** What a call needs, for methods whose contract leaves it to the message. Without it, such calls are refused. */
  readonly accessOf?: AccessOfRequest;
}

/** What the actor of a call needs. */
export interface CallAccess {
  /** A permission, "signed_in" or "authenticated"; undefined: the call has no actor. */
  readonly permission: string | undefined;
  /** Whether the call changes something. */
  readonly audited: boolean;
}

/** Throws an RpcError `unimplemented` for a message that names nothing that is served. */
export type AccessOfRequest = (method: string, request: unknown) => CallAccess;

/** Binds handlers to their definition; the compiler checks that none is missing. */
export function bindService<Service extends ServiceDefinition>(
  definition: Service,
  handlers: RpcHandlers<Service>,
  accessOf?: AccessOfRequest,
): BoundService {
  return { definition, handlers: handlers as unknown as BoundService['handlers'], accessOf };
}
