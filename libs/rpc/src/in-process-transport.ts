import type { BoundService } from './bound-service';
import { DeadlineWheel } from './deadline-wheel';
import { checkedSize, crossed, openCall, type InProcessRuntime } from './in-process-call';
import { InProcessStream } from './in-process-stream';
import { MAX_MESSAGE_BYTES } from './limits';
import { noSuchMethod, servedMethods, type RpcLog, type ServedMethod } from './served-methods';
import type { RpcTransport, TransportCall } from './transport';

export interface InProcessTransportOptions {
  /** For what of a failure does not cross to the caller. */
  readonly log?: RpcLog;
  /** MAX_MESSAGE_BYTES when absent. */
  readonly maxMessageBytes?: number;
}

/**
 * Calls handlers of the same process. It keeps every promise of a network
 * transport (messages are copied through bytes, errors through their codec,
 * deadlines and cancellation reach the handler), so that a module cannot tell
 * where its peers run.
 */
export function createInProcessTransport(
  services: readonly BoundService[],
  { log, maxMessageBytes = MAX_MESSAGE_BYTES }: InProcessTransportOptions = {},
): RpcTransport {
  const methods = servedMethods(services);
  const runtime: InProcessRuntime = { deadlines: new DeadlineWheel(), maxMessageBytes, log };

  return {
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
  runtime: InProcessRuntime,
  resolve: (response: Uint8Array) => void,
  reject: (error: unknown) => void,
): void {
  const { context, link } = openCall(call, call.timeoutMs, runtime, reject);

  function succeed(response: unknown): void {
    if (context.aborted) return;
    try {
      const bytes = checkedSize('a response', served.encode(response), runtime);
      link?.release();
      resolve(bytes);
    } catch (error) {
      fail(error);
    }
  }
  function fail(thrown: unknown): void {
    if (context.aborted) return;
    link?.release();
    reject(crossed(thrown, served, runtime));
  }

  try {
    (served.invoke(call.request, context) as Promise<unknown>).then(succeed, fail);
  } catch (thrown) {
    fail(thrown);
  }
}
