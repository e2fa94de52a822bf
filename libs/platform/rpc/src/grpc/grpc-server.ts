import type { ActorVerifier } from '@gateway/actors';
import type { CallFailure } from '@gateway/contracts/batched-calls';
import { DEFAULT_IDENTITY_DOMAIN } from '@gateway/contracts/callers';
import {
  Server,
  status,
  type ServerDuplexStream,
  type ServerWritableStream,
  type ServiceDefinition as GrpcServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { DeniedCall } from '../access';
import { CallRunner, type CallReplies } from '../call-runner';
import type { BoundService } from '../definition';
import { noSuchMethod, servedMethods, type RpcLog, type ServedMethod } from '../served-methods';
import { ServerCall, type RpcCallEnd } from '../server-call';
import { MAX_MESSAGE_BYTES } from '../transport';
import { EXCHANGE_PATH } from './batched/protocol';
import { BatchExchange, type AcceptCall } from './batched/serve-batches';
import { callerOf } from './caller-identity';
import { serverCredentials, serverOptions, type RpcTls, type RpcTlsFiles } from './grpc-options';
import {
  ACCEPTS_NO_CALLS,
  asBuffer,
  fromGrpcMetadata,
  identity,
  pathOf,
  toCallFailure,
  toRefusal,
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
  refusedCallers,
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
  const calls = new CallRunner<Buffer>({
    identified: tls !== undefined,
    refusedCallers,
    decode: (served, request) => served.decode(request),
    encode: (served, response) => asBuffer(served.encode(response)),
    log,
    actors,
    onDenied,
    onCallEnd,
  });
  let stopping: Promise<void> | undefined;
  /** Set by the stop; called when no client has a stream. */
  let whenDrained: (() => void) | undefined;

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
      // On the wire, a single response is a stream of one.
      definition[name] = {
        ...BYTES,
        path: pathOf(service, name),
        requestStream: false,
        responseStream: true,
      };
      implementation[name] = (call: ServerWritableStream<Buffer, Buffer>) => serveSingle(served, call);
    }
    server.addService(definition, implementation);
  }

  /** Undefined: the client's certificate names no service, or the server has none itself. */
  function callerBehind(
    call: Pick<ServerWritableStream<Buffer, Buffer>, 'getAuthContext'>,
  ): string | undefined {
    return tls === undefined ? undefined : callerOf(call, identityDomain);
  }

  /** A gRPC call that is not part of a batch, for tools such as grpcurl. */
  function serveSingle(served: ServedMethod, call: ServerWritableStream<Buffer, Buffer>): void {
    const deadline = Number(call.getDeadline());
    const deadlineUnixMs = Number.isFinite(deadline) ? deadline : undefined;
    const context = new ServerCall(fromGrpcMetadata(call.metadata), deadlineUnixMs);
    const accepted = calls.accept({ served, context, caller: callerBehind(call) }, repliesTo(call));
    if (accepted === undefined) return;
    // gRPC emits this at the end of every call, even a successful one.
    call.once('cancelled', () => accepted.cancel());
    accepted.run(call.request);
  }

  function exchange(call: ServerDuplexStream<Buffer, Buffer>): void {
    if (stopping !== undefined)
      return void call.emit('error', { code: status.UNAVAILABLE, details: ACCEPTS_NO_CALLS });
    const caller = callerBehind(call);
    const accept: AcceptCall = ({ path, timeoutMs, metadata }, replies) => {
      const [service = '', method = ''] = path.slice(1).split('/');
      const served = methods.get(service)?.get(method);
      if (served === undefined) return void replies.refuse(noSuchMethod({ service, method }));
      const deadlineUnixMs = timeoutMs === 0 ? undefined : Date.now() + timeoutMs;
      return calls.accept({ served, context: new ServerCall(metadata, deadlineUnixMs), caller }, replies);
    };
    const batches = new BatchExchange(call, { accept, maxMessageBytes });
    exchanges.add(batches);
    call.once('cancelled', () => {
      exchanges.delete(batches);
      if (exchanges.size === 0) whenDrained?.();
    });
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
      // The shutdown makes HTTP/2 announce it (GOAWAY), after which a client of grpc-js drops the connection with its
      // next keepalive ping (grpc-node issue 3068). So each client first ends its stream, after its last call.
      for (const each of exchanges) each.goAway();
      let overdue = setTimeout(() => {
        calls.abortAll();
        overdue = setTimeout(() => {
          server.forceShutdown();
          resolve();
        }, FLUSH_MS);
      }, drainMs);
      whenDrained = () =>
        server.tryShutdown(() => {
          clearTimeout(overdue);
          resolve();
        });
      if (exchanges.size === 0) whenDrained();
    });
    return stopping;
  }

  return { start, stop };
}

function repliesTo(call: ServerWritableStream<Buffer, Buffer>): CallReplies<Buffer> {
  const fail = ({ status: code, details }: CallFailure): void => void call.emit('error', { code, details });
  return {
    send: (message) =>
      call.write(message) ? undefined : new Promise((resolve) => call.once('drain', resolve)),
    succeed: () => call.end(),
    fail: (thrown) => fail(toCallFailure(thrown)),
    refuse: (reason) => fail(toRefusal(reason)),
  };
}
