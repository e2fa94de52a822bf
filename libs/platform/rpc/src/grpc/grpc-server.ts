import type { ActorVerifier } from '@gateway/actors';
import { DEFAULT_IDENTITY_DOMAIN } from '@gateway/contracts/callers';
import {
  Server,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition as GrpcServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { DeniedCall } from '../access';
import type { BoundService } from '../definition';
import { servedMethods, type RpcLog, type ServedMethod } from '../served-methods';
import { ServerCall, type RpcCallEnd } from '../server-call';
import { MAX_MESSAGE_BYTES } from '../transport';
import { EXCHANGE_PATH } from './batched/protocol';
import { BatchExchange, type ServeCall } from './batched/serve-batches';
import { createCallRunner, type CallInFlight, type StreamReplies } from './call-runner';
import { callerOf } from './caller-identity';
import { serverCredentials, serverOptions, type RpcTls, type RpcTlsFiles } from './grpc-options';
import { fromGrpcMetadata, identity, pathOf, unimplementedFailure, type GrpcFailure } from './grpc-wire';
import { createHealth } from './health';
import { addReflection } from './reflection';

export interface GrpcServerOptions {
  readonly services: readonly BoundService[];
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** For the internal parts of failures, which callers do not receive. */
  readonly log?: RpcLog;
  /**
   * With it, every method but grpc.health.v1 is open only to the services that its
   * contract names as callers. Without it, calls are plain text and no caller is refused.
   */
  readonly tls?: RpcTls | RpcTlsFiles;
  /** The domain of the service names in certificates; absent: DEFAULT_IDENTITY_DOMAIN. */
  readonly identityDomain?: string;
  /** Callers that this port refuses, whatever the contracts say. */
  readonly refusedCallers?: ReadonlySet<string>;
  /** Verifies the actor of each call whose contract declares a permission. Without it, such calls are refused. */
  readonly actors?: ActorVerifier;
  /** Called for every call that is refused because of its caller or its actor. */
  readonly onDenied?: (denied: DeniedCall) => void;
  /** Readiness, for grpc.health.v1. Absent: ready while the server runs. */
  readonly isReady?: () => boolean | Promise<boolean>;
  /** How long calls in flight may run after `stop`, in milliseconds, before they are aborted. */
  readonly drainMs?: number;
  /** Defaults to MAX_MESSAGE_BYTES. */
  readonly maxMessageBytes?: number;
  /** Called at the end of every call. */
  readonly onCallEnd?: (end: RpcCallEnd) => void;
  /** A binary `google.protobuf.FileDescriptorSet`, which enables reflection. */
  readonly descriptors?: Uint8Array;
}

export interface GrpcServer {
  start(): Promise<{ readonly port: number }>;
  /** Accepts no new calls, waits up to `drainMs` for calls in flight, then aborts them. Idempotent. */
  stop(): Promise<void>;
}

type AnyCall = Pick<ServerUnaryCall<Buffer, Buffer>, 'metadata' | 'getDeadline' | 'getAuthContext'> & {
  once(event: 'cancelled', listener: () => void): unknown;
};

/** Messages are encoded and decoded with the codecs of their contracts. */
const BYTES = {
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
};

const DEFAULT_DRAIN_MS = 10_000;
/** Time to send the failures of aborted calls before connections are closed. */
const FLUSH_MS = 500;

/** Serves bound services, grpc.health.v1 and, with descriptors, grpc.reflection over gRPC. */
export function createGrpcServer({
  services,
  host,
  port,
  log,
  tls,
  identityDomain = DEFAULT_IDENTITY_DOMAIN,
  refusedCallers = new Set(),
  actors,
  onDenied,
  isReady,
  drainMs = DEFAULT_DRAIN_MS,
  maxMessageBytes = MAX_MESSAGE_BYTES,
  descriptors,
  onCallEnd,
}: GrpcServerOptions): GrpcServer {
  const server = new Server(serverOptions(maxMessageBytes));
  const names = services.map((service) => service.definition.fullName);
  const health = createHealth(names, isReady);
  if (descriptors !== undefined) addReflection(server, descriptors, names);
  const calls = createCallRunner({
    identified: tls !== undefined,
    refusedCallers,
    ...(log && { log }),
    ...(actors && { actors }),
    ...(onDenied && { onDenied }),
    ...(onCallEnd && { onCallEnd }),
  });
  let stopping: Promise<void> | undefined;

  const methods = servedMethods([...services, health.service]);
  const exchanges = new Set<BatchExchange>();
  server.addService(
    { exchange: { ...BYTES, path: EXCHANGE_PATH, requestStream: true, responseStream: true } },
    { exchange },
  );
  for (const [service, byName] of methods) {
    const definition: Record<string, GrpcServiceDefinition[string]> = {};
    const implementation: UntypedServiceImplementation = {};
    for (const [name, served] of byName) {
      definition[name] = {
        ...BYTES,
        path: pathOf(service, name),
        requestStream: false,
        responseStream: served.streams,
      };
      implementation[name] = served.streams ? streamHandler(served) : unaryHandler(served);
    }
    server.addService(definition, implementation);
  }

  /** Undefined: the client's certificate names no service, or the server has none itself. */
  function callerBehind(call: AnyCall): string | undefined {
    return tls === undefined ? undefined : callerOf(call, identityDomain);
  }

  /** A call of its own, not part of a batch. */
  function openGrpcCall(
    served: ServedMethod,
    call: AnyCall,
    fail: (failure: GrpcFailure) => void,
  ): CallInFlight {
    const deadline = Number(call.getDeadline());
    const context = new ServerCall(
      fromGrpcMetadata(call.metadata),
      Number.isFinite(deadline) ? deadline : undefined,
    );
    const open = calls.open(served, context, callerBehind(call), fail);
    // gRPC emits this at the end of every call, even a successful one.
    call.once('cancelled', open.cancel);
    return open;
  }

  function unaryHandler(served: ServedMethod) {
    return async (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): Promise<void> => {
      const denied = calls.denialOf(served, callerBehind(call));
      if (denied !== undefined) return callback(denied);
      const reply = await calls.respond(openGrpcCall(served, call, callback), call.request);
      if (reply === undefined) return;
      if ('failure' in reply) callback(reply.failure);
      else callback(null, reply.response);
    };
  }

  function streamHandler(served: ServedMethod) {
    return (call: ServerWritableStream<Buffer, Buffer>): void => {
      const fail = (failure: GrpcFailure): void => void call.emit('error', failure);
      const denied = calls.denialOf(served, callerBehind(call));
      if (denied !== undefined) return fail(denied);
      const open = openGrpcCall(served, call, fail);
      const { context } = open;
      calls.stream(open, call.request, {
        send: (message) => (call.write(message) ? undefined : drained(call, context)),
        succeed: () => call.end(),
        fail,
      });
    };
  }

  /** Serves one call of a batch as if it were a call of its own. */
  function serveBatched(caller: string | undefined): ServeCall {
    return ({ path, request, timeoutMs, metadata }, replies) => {
      const [service = '', method = ''] = path.slice(1).split('/');
      const served = methods.get(service)?.get(method);
      if (served === undefined) {
        replies.fail(unimplementedFailure(path));
        return () => undefined;
      }
      const denied = calls.denialOf(served, caller);
      if (denied !== undefined) {
        replies.fail(denied);
        return () => undefined;
      }
      const deadlineUnixMs = timeoutMs === 0 ? undefined : Date.now() + timeoutMs;
      const open = calls.open(served, new ServerCall(metadata, deadlineUnixMs), caller, replies.fail);
      if (served.streams) calls.stream(open, request, replies);
      else void unaryReply(open, request, replies);
      return open.cancel;
    };
  }

  async function unaryReply(open: CallInFlight, request: Buffer, replies: StreamReplies): Promise<void> {
    const reply = await calls.respond(open, request);
    if (reply === undefined) return;
    if ('failure' in reply) return replies.fail(reply.failure);
    await replies.send(reply.response);
    replies.succeed();
  }

  function exchange(call: ServerDuplexStream<Buffer, Buffer>): void {
    const batches = new BatchExchange(call, serveBatched(callerBehind(call)));
    exchanges.add(batches);
    call.once('cancelled', () => exchanges.delete(batches));
    if (stopping !== undefined) batches.goAway();
  }

  function start(): Promise<{ readonly port: number }> {
    return new Promise((resolve, reject) => {
      const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      server.bindAsync(address, serverCredentials(tls), (error, boundPort) => {
        if (error !== null) return reject(error);
        health.setServing(true);
        resolve({ port: boundPort });
      });
    });
  }

  function stop(): Promise<void> {
    stopping ??= new Promise((resolve) => {
      // Otherwise the shutdown would wait for health watches and batched calls.
      health.stop();
      for (const each of exchanges) each.goAway();
      let overdue = setTimeout(() => {
        calls.abortAll();
        overdue = setTimeout(() => {
          server.forceShutdown();
          resolve();
        }, FLUSH_MS);
      }, drainMs);
      server.tryShutdown(() => {
        clearTimeout(overdue);
        resolve();
      });
    });
    return stopping;
  }

  return { start, stop };
}

/** Resolves when there is room for another message, or the call has ended. */
function drained(call: ServerWritableStream<Buffer, Buffer>, { signal }: ServerCall): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      call.off('drain', done);
      call.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    call.on('drain', done);
    call.on('close', done);
    signal.addEventListener('abort', done);
  });
}
