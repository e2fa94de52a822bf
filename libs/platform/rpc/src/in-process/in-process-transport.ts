import type { BoundService } from '../definition';
import { noSuchMethod, servedMethods, type RpcLog, type ServedMethod } from '../served-methods';
import type { MessageTransport, TransportCall } from '../transport';
import { publicErrorOf, InProcessCall, type InProcessRuntime } from './in-process-call';
import { InProcessStream } from './in-process-stream';

export interface InProcessTransportOptions {
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
  { log, freezesMessages = true }: InProcessTransportOptions = {},
): MessageTransport {
  const methods = servedMethods(services);
  const pass = freezesMessages ? freezeDeep : (message: unknown) => message;
  const runtime: InProcessRuntime = { pass, log };

  return {
    carries: 'messages',
    unary: (call) => {
      const served = methods.get(call.service)?.get(call.method);
      if (served === undefined || served.streams) return Promise.reject(noSuchMethod(call));
      return new Promise((resolve, reject) => {
        try {
          callHandler(served, call, runtime, resolve, reject);
        } catch (error) {
          reject(error);
        }
      });
    },
    serverStream: (call) => {
      const served = methods.get(call.service)?.get(call.method);
      return new InProcessStream(served?.streams ? served : undefined, call, runtime);
    },
  };
}

function callHandler(
  served: ServedMethod,
  call: TransportCall,
  { pass, log }: InProcessRuntime,
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

  try {
    (served.invoke(pass(call.request), context) as Promise<unknown>).then(succeed, fail);
  } catch (thrown) {
    fail(thrown);
  }
}

/** Freezes the message deeply, except for bytes. */
function freezeDeep(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || ArrayBuffer.isView(message)) return message;
  Object.freeze(message);
  for (const value of Object.values(message)) freezeDeep(value);
  return message;
}
