import type { BoundService } from './bound-service';
import { DeadlineWheel } from './deadline-wheel';
import { frozenMessage } from './frozen-message';
import { crossed, openCall, type InProcessRuntime } from './in-process-call';
import { InProcessStream } from './in-process-stream';
import { noSuchMethod, servedMethods, type RpcLog, type ServedMethod } from './served-methods';
import type { MessageTransport, TransportCall } from './transport';

export interface InProcessTransportOptions {
  /** For what of a failure does not cross to the caller. */
  readonly log?: RpcLog;
  /**
   * Freezes every message on its way, so that a side which changes one is found
   * out. It costs more than the call, so that whoever is in a hurry says false.
   */
  readonly freezesMessages?: boolean;
}

/**
 * Calls handlers of the same process. It keeps every promise of a network
 * transport (errors go through their codec, deadlines and cancellation reach
 * the handler), so that a module cannot tell where its peers run. Messages are
 * handed over as they are: neither side changes one, ever.
 */
export function createInProcessTransport(
  services: readonly BoundService[],
  { log, freezesMessages = true }: InProcessTransportOptions = {},
): MessageTransport {
  const methods = servedMethods(services);
  const handOver = freezesMessages ? frozenMessage : (message: unknown) => message;
  const runtime: InProcessRuntime = { deadlines: new DeadlineWheel(), handOver, log };

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
  runtime: InProcessRuntime,
  resolve: (response: unknown) => void,
  reject: (error: unknown) => void,
): void {
  const { context, link } = openCall(call, call.timeoutMs, runtime, reject);

  function succeed(response: unknown): void {
    if (context.aborted) return;
    link?.release();
    resolve(runtime.handOver(response));
  }
  function fail(thrown: unknown): void {
    if (context.aborted) return;
    link?.release();
    reject(crossed(thrown, served, runtime));
  }

  try {
    (served.invoke(runtime.handOver(call.request), context) as Promise<unknown>).then(succeed, fail);
  } catch (thrown) {
    fail(thrown);
  }
}
