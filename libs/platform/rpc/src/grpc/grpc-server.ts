import {
  Server,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition as GrpcServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { BoundService } from '../bound-service';
import { callEnd, outcomeOf, type RpcCallEnd } from '../call-end';
import { MAX_MESSAGE_BYTES } from '../limits';
import { cancelledCall, overdueCall, RpcError } from '../rpc-error';
import { reportFailure, servedMethods, type RpcLog, type ServedMethod } from '../served-methods';
import { serveStream, serveUnary } from '../serve-bytes';
import { ServerCall } from '../server-call';
import { drained } from './grpc-drained';
import { serverCredentials, serverOptions, type RpcTls, type RpcTlsFiles } from './grpc-options';
import {
  asBuffer,
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
  /** 0 picks a free one. */
  readonly port: number;
  /** For what of a failure does not cross to the caller. */
  readonly log?: RpcLog;
  /** Plain text when absent. */
  readonly tls?: RpcTls | RpcTlsFiles;
  /** What grpc.health.v1 answers while the server runs; serving when absent. */
  readonly isReady?: () => boolean | Promise<boolean>;
  /** How long calls under way may go on after `stop`, in milliseconds; then they are aborted. */
  readonly drainMs?: number;
  /** MAX_MESSAGE_BYTES when absent. */
  readonly maxMessageBytes?: number;
  /** Told of the end of every call. */
  readonly onCallEnd?: (end: RpcCallEnd) => void;
  /** A binary `google.protobuf.FileDescriptorSet`: with it the server tells by reflection what it serves. */
  readonly descriptors?: Uint8Array;
}

export interface GrpcServer {
  start(): Promise<{ readonly port: number }>;
  /** Takes no new calls, waits for those under way within `drainMs`, then aborts them. Safe to call twice. */
  stop(): Promise<void>;
}

interface CallUnderWay {
  readonly context: ServerCall;
  readonly served: ServedMethod;
  readonly startedAtMs: number;
  /** Aborts the handler and fails the call. */
  cut(): void;
}

const DEFAULT_DRAIN_MS = 10_000;
/** What callers get to take the failure of a call that was cut; then their connections are dropped. */
const FLUSH_MS = 500;

/** Serves bound services over gRPC, and beside them grpc.health.v1 and, with descriptors, grpc.reflection. */
export function createGrpcServer({
  services,
  host,
  port,
  log,
  tls,
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
  const underWay = new Set<CallUnderWay>();
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

  function openCall(
    served: ServedMethod,
    call: ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>,
    fail: (failure: GrpcFailure) => void,
  ): CallUnderWay {
    const deadline = Number(call.getDeadline());
    const context = new ServerCall(
      fromGrpcMetadata(call.metadata),
      Number.isFinite(deadline) ? deadline : undefined,
    );
    const open: CallUnderWay = {
      context,
      served,
      startedAtMs: performance.now(),
      cut: () => {
        ended(open, 'cancelled');
        context.abort(new RpcError('cancelled', 'the server stopped before the call had ended'));
        fail(stoppingFailure());
      },
    };
    underWay.add(open);
    // gRPC tells of the end of every call this way, also of one that was answered.
    call.once('cancelled', () => {
      if (!ended(open, 'cancelled')) return;
      context.abort(Date.now() >= deadline ? overdueCall(served) : cancelledCall(served));
    });
    return open;
  }

  /** @returns whether it was under way until now. */
  function ended(open: CallUnderWay, outcome: string): boolean {
    if (!underWay.delete(open)) return false;
    onCallEnd?.(callEnd(open.served, open.context, open.startedAtMs, outcome));
    return true;
  }

  function unaryHandler(served: ServedMethod) {
    return (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): void => {
      const open = openCall(served, call, callback);
      serveUnary(served, call.request, open.context, {
        log,
        answer: (response) => {
          ended(open, 'ok');
          callback(null, asBuffer(response));
        },
        fail: (thrown) => {
          ended(open, outcomeOf(thrown));
          if (!open.context.aborted) callback(toGrpcFailure(thrown));
        },
      });
    };
  }

  function streamHandler(served: ServedMethod) {
    return (call: ServerWritableStream<Buffer, Buffer>): void => {
      const open = openCall(served, call, (failure) => void call.emit('error', failure));
      const { context } = open;
      const send = (message: Uint8Array): Promise<void> | undefined =>
        call.write(asBuffer(message)) ? undefined : drained(call, context);
      serveStream(served, call.request, context, send)
        .then(() => {
          if (!context.aborted) call.end();
          return 'ok';
        })
        .catch((thrown: unknown) => {
          if (context.aborted) return 'cancelled';
          reportFailure(log, served, thrown);
          call.emit('error', toGrpcFailure(thrown));
          return outcomeOf(thrown);
        })
        .then((outcome) => ended(open, context.aborted ? 'cancelled' : outcome));
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
      // Watches of the health itself would otherwise be waited for.
      health.stop();
      let overdue = setTimeout(() => {
        for (const open of underWay) open.cut();
        underWay.clear();
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
