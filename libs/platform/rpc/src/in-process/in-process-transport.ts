import type { ActorVerifier } from '@gateway/actors';
import { admitActor, denial } from '../access';
import type { BoundService } from '../definition';
import { cancelledCall, RpcError } from '../rpc-error';
import { noSuchMethod, servedMethods, type RpcLog, type ServedMethod } from '../served-methods';
import type { MessageTransport, StartedStream, StreamReader, TransportCall } from '../transport';
import { publicErrorOf, InProcessCall, type InProcessRuntime } from './in-process-call';

export interface InProcessTransportOptions {
  /** The calling service. With it, a method refuses the call unless its contract names the service, as between processes. */
  readonly caller?: string;
  /** Verifies the actor of each call whose contract declares a permission. Without it, such calls are refused. */
  readonly actors?: ActorVerifier;
  /** For the internal parts of failures, which callers do not receive. */
  readonly log?: RpcLog;
  /**
   * Freezes every message, so that a handler or caller that changes one fails.
   * Defaults to true; production sets false, as it costs more than the call.
   */
  readonly freezesMessages?: boolean;
}

/**
 * Calls handlers of the same process, with the guarantees of the gRPC transport:
 * errors go through the codec, and deadlines and cancellation reach the handler.
 * So a module does not depend on where its peers run. Messages are passed by
 * reference: neither side may change one.
 */
export function createInProcessTransport(
  services: readonly BoundService[],
  { caller, actors, log, freezesMessages = true }: InProcessTransportOptions = {},
): MessageTransport {
  const methods = servedMethods(services);

  function find({ service, method }: TransportCall, streams: boolean): ServedMethod {
    const served = methods.get(service)?.get(method);
    if (served === undefined || served.streams !== streams) throw noSuchMethod({ service, method });
    const denied = caller === undefined ? undefined : denial(served, caller);
    if (denied !== undefined) {
      log?.warn(
        { rpc: `${service}/${method}`, caller },
        'call denied: the contract does not name the caller',
      );
      throw denied;
    }
    return served;
  }

  const pass = freezesMessages ? freezeDeep : (message: unknown) => message;
  const runtime: InProcessRuntime = { pass, actors, log };

  return {
    carries: 'messages',
    unary: (call) =>
      new Promise((resolve, reject) => {
        try {
          callHandler(find(call, false), call, runtime, resolve, reject);
        } catch (error) {
          reject(error);
        }
      }),
    serverStream: (call, reader) => startStream(find(call, true), call, runtime, reader),
  };
}

function callHandler(
  served: ServedMethod,
  call: TransportCall,
  { pass, actors, log }: InProcessRuntime,
  resolve: (response: unknown) => void,
  reject: (error: unknown) => void,
): void {
  const context = new InProcessCall(call, call.timeoutMs, reject);

  function succeed(response: unknown): void {
    if (context.aborted) return;
    context.release();
    resolve(pass(response));
  }
  function fail(thrown: unknown): void {
    if (context.aborted) return;
    context.release();
    reject(publicErrorOf(thrown, served, log));
  }
  function invoke(request: unknown): void {
    try {
      served.invoke(request, context).then(succeed, fail);
    } catch (thrown) {
      fail(thrown);
    }
  }
  function deny(thrown: unknown): void {
    if (!(thrown instanceof RpcError)) return fail(thrown);
    if (context.aborted) return;
    context.release();
    log?.warn({ rpc: `${call.service}/${call.method}`, reason: thrown.internalMessage }, 'call denied');
    reject(thrown);
  }

  const request = pass(call.request);
  if (served.permission === undefined) return invoke(request);
  admitActor(served, { request, metadata: context.metadata }, actors).then((actor) => {
    if (context.aborted) return;
    context.actor = actor;
    invoke(request);
  }, deny);
}

/** The handler runs only while the reader waits for a message, so no message is stored. */
function startStream(
  served: ServedMethod,
  call: TransportCall,
  { pass, log }: InProcessRuntime,
  reader: StreamReader<unknown>,
): StartedStream {
  const context = new InProcessCall(call, call.timeoutMs, (reason) => {
    messages.close();
    reader.end(reason);
  });
  const messages = served.stream(pass(call.request), context, {
    message: (message) => reader.message(pass(message), 0),
    end: () => {
      context.release();
      reader.end(undefined);
    },
    fail: (thrown) => {
      context.release();
      reader.end(publicErrorOf(thrown, served, log));
    },
  });
  messages.read();
  return {
    read: () => messages.read(),
    cancel: () => {
      context.release();
      context.abort(cancelledCall(call));
      messages.close();
    },
  };
}

/** Freezes the message deeply, except for bytes. */
function freezeDeep(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || ArrayBuffer.isView(message)) return message;
  Object.freeze(message);
  for (const value of Object.values(message)) freezeDeep(value);
  return message;
}
