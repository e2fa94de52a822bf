import type { BoundService } from '../definition';
import { noSuchMethod, servedMethods, type RpcLog, type ServedMethod } from '../served-methods';
import type { MessageTransport, TransportCall } from '../transport';
import { crossed, InProcessCall, type InProcessRuntime } from './in-process-call';
import { InProcessStream } from './in-process-stream';

export interface InProcessTransportOptions {
  /** Gets the parts of failures that do not cross to the caller. */
  readonly log?: RpcLog;
  /**
   * Freezes every message on its way, so that a handler or caller that changes
   * one fails. It costs more than the call: production sets false. True when absent.
   */
  readonly freezesMessages?: boolean;
}

/**
 * Calls handlers of the same process. It keeps every guarantee of the gRPC
 * transport (errors go through their codec, deadlines and cancellation reach
 * the handler), so that a module does not depend on where its peers run.
 * Messages are passed by reference: neither side may change one.
 */
export function createInProcessTransport(
  services: readonly BoundService[],
  { log, freezesMessages = true }: InProcessTransportOptions = {},
): MessageTransport {
  const methods = servedMethods(services);
  const handOver = freezesMessages ? frozenMessage : (message: unknown) => message;
  const runtime: InProcessRuntime = { handOver, log };

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
  { handOver, log }: InProcessRuntime,
  resolve: (response: unknown) => void,
  reject: (error: unknown) => void,
): void {
  const context = new InProcessCall(call, call.timeoutMs, reject);

  function succeed(response: unknown): void {
    if (context.aborted) return;
    context.release();
    resolve(handOver(response));
  }
  function fail(thrown: unknown): void {
    if (context.aborted) return;
    context.release();
    reject(crossed(thrown, served, log));
  }

  try {
    (served.invoke(handOver(call.request), context) as Promise<unknown>).then(succeed, fail);
  } catch (thrown) {
    fail(thrown);
  }
}

/** The message itself, deeply frozen, except for bytes. */
function frozenMessage(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || ArrayBuffer.isView(message)) return message;
  Object.freeze(message);
  for (const value of Object.values(message)) frozenMessage(value);
  return message;
}
