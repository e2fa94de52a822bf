import type { ActorVerifier } from '@gateway/actors';
import { DEFAULT_IDENTITY_DOMAIN } from '@gateway/contracts/callers';
import {
  Server,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition as GrpcServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthDefinition } from '@gateway/contracts/health';
import { toGatewayError } from '@gateway/errors';
import { admitActor, denial, type DeniedCall } from '../access';
import type { BoundService } from '../definition';
import { cancelledCall, overdueCall, RpcError } from '../rpc-error';
import { reportFailure, servedMethods, type RpcLog, type ServedMethod } from '../served-methods';
import { ServerCall, type RpcCallEnd } from '../server-call';
import { traceOfCall } from '../traced-call';
import { MAX_MESSAGE_BYTES } from '../transport';
import { callerOf } from './caller-identity';
import { serverCredentials, serverOptions, type RpcTls, type RpcTlsFiles } from './grpc-options';
import {
  asBuffer,
  deniedFailure,
  fromGrpcMetadata,
  identity,
  pathOf,
  stoppingFailure,
  toGrpcFailure,
  type GrpcFailure,
} from './grpc-wire';
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

interface CallInFlight {
  readonly context: ServerCall;
  readonly served: ServedMethod;
  readonly startedAtMs: number;
  /** Aborts the handler and fails the call. */
  abort(): void;
}

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
  const inFlight = new Set<CallInFlight>();
  let stopping: Promise<void> | undefined;

  for (const [service, methods] of servedMethods([...services, health.service])) {
    const definition: Record<string, GrpcServiceDefinition[string]> = {};
    const implementation: UntypedServiceImplementation = {};
    for (const [name, served] of methods) {
      definition[name] = {
        path: pathOf(service, name),
        requestStream: false,
        responseStream: served.streams,
        requestSerialize: identity,
        requestDeserialize: identity,
        responseSerialize: identity,
        responseDeserialize: identity,
      };
      implementation[name] = served.streams ? streamHandler(served) : unaryHandler(served);
    }
    server.addService(definition, implementation);
  }

  /** The refusal of a call whose caller the method's contract does not name. */
  function denialOf(
    served: ServedMethod,
    call: ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>,
  ): GrpcFailure | undefined {
    if (tls === undefined || served.service === HealthDefinition.fullName) return undefined;
    const caller = callerOf(call, identityDomain);
    const isRefused = caller !== undefined && refusedCallers.has(caller);
    const denied = denial(served, isRefused ? undefined : caller);
    if (denied === undefined) return undefined;
    const rpc = `${served.service}/${served.method}`;
    onCallEnd?.({ rpc, outcome: denied.failure, durationMs: 0, trace: undefined });
    onDenied?.({ rpc, caller, reason: denied.internalMessage ?? '' });
    return deniedFailure(denied);
  }

  /** The refusal of a call whose actor the method's contract does not admit. Sets the actor of an admitted call. */
  async function actorDenialOf(
    served: ServedMethod,
    call: ServerUnaryCall<Buffer, Buffer>,
    { context }: CallInFlight,
    request: unknown,
  ): Promise<RpcError | undefined> {
    try {
      context.actor = await admitActor(served, { request, metadata: context.metadata }, actors);
      return undefined;
    } catch (denied) {
      if (!(denied instanceof RpcError)) throw denied;
      const caller = tls === undefined ? undefined : callerOf(call, identityDomain);
      const rpc = `${served.service}/${served.method}`;
      onDenied?.({ rpc, caller, reason: denied.internalMessage ?? '' });
      return denied;
    }
  }

  function openCall(
    served: ServedMethod,
    call: ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>,
    fail: (failure: GrpcFailure) => void,
  ): CallInFlight {
    const deadline = Number(call.getDeadline());
    const context = new ServerCall(
      fromGrpcMetadata(call.metadata),
      Number.isFinite(deadline) ? deadline : undefined,
    );
    const open: CallInFlight = {
      context,
      served,
      startedAtMs: performance.now(),
      abort: () => {
        markEnded(open, 'cancelled');
        context.abort(new RpcError('cancelled', 'the server stopped before the call had ended'));
        fail(stoppingFailure());
      },
    };
    inFlight.add(open);
    // gRPC emits this at the end of every call, even a successful one.
    call.once('cancelled', () => {
      if (!markEnded(open, 'cancelled')) return;
      context.abort(Date.now() >= deadline ? overdueCall(served) : cancelledCall(served));
    });
    return open;
  }

  /** @returns whether the call was still in flight. */
  function markEnded(open: CallInFlight, outcome: string): boolean {
    if (!inFlight.delete(open)) return false;
    const { served, context, startedAtMs } = open;
    onCallEnd?.({
      rpc: `${served.service}/${served.method}`,
      outcome,
      durationMs: performance.now() - startedAtMs,
      trace: traceOfCall(context.metadata),
    });
    return true;
  }

  function unaryHandler(served: ServedMethod) {
    return async (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): Promise<void> => {
      const denied = denialOf(served, call);
      if (denied !== undefined) return callback(denied);
      const open = openCall(served, call, callback);
      const { context } = open;
      try {
        const request = served.decode(call.request);
        if (served.permission !== undefined) {
          const refusal = await actorDenialOf(served, call, open, request);
          if (context.aborted) return;
          if (refusal !== undefined) {
            markEnded(open, refusal.failure);
            return callback(deniedFailure(refusal));
          }
        }
        const response = await served.invoke(request, context);
        if (context.aborted) return;
        const bytes = asBuffer(served.encode(response));
        markEnded(open, 'ok');
        callback(null, bytes);
      } catch (thrown) {
        if (context.aborted) return;
        reportFailure(log, served, thrown);
        markEnded(open, toGatewayError(thrown).code);
        callback(toGrpcFailure(thrown));
      }
    };
  }

  function streamHandler(served: ServedMethod) {
    return async (call: ServerWritableStream<Buffer, Buffer>): Promise<void> => {
      const denied = denialOf(served, call);
      if (denied !== undefined) return void call.emit('error', denied);
      const open = openCall(served, call, (failure) => void call.emit('error', failure));
      const { context } = open;
      try {
        await sendMessages(served, call, context);
        if (!context.aborted) call.end();
        markEnded(open, context.aborted ? 'cancelled' : 'ok');
      } catch (thrown) {
        if (!context.aborted) {
          reportFailure(log, served, thrown);
          call.emit('error', toGrpcFailure(thrown));
        }
        markEnded(open, context.aborted ? 'cancelled' : toGatewayError(thrown).code);
      }
    };
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
      // Otherwise the shutdown would wait for health watches.
      health.stop();
      let overdue = setTimeout(() => {
        for (const open of inFlight) open.abort();
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

/**
 * Runs a streaming handler and sends its messages, with backpressure. Resolves
 * when the handler has finished or the call is aborted. An aborted handler runs
 * its `finally`, and nothing more is sent.
 */
async function sendMessages(
  served: ServedMethod,
  call: ServerWritableStream<Buffer, Buffer>,
  context: ServerCall,
): Promise<void> {
  const messages = served.invoke(served.decode(call.request), context) as AsyncIterable<unknown>;
  const iterator = messages[Symbol.asyncIterator]();
  const closeIterator = (): void => void iterator.return?.().catch(() => undefined);
  // Immediately, as the handler may not produce its next message for a long time.
  context.signal.addEventListener('abort', closeIterator);
  while (!context.aborted) {
    const result = await iterator.next();
    if (context.aborted || result.done) return;
    let hasRoom: boolean;
    try {
      hasRoom = call.write(asBuffer(served.encode(result.value)));
    } catch (error) {
      closeIterator();
      throw error;
    }
    if (!hasRoom) await drained(call, context);
  }
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
