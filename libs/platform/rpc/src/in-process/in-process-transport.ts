import type { ActorVerifier } from '@gateway/actors';
import { CallRunner } from '../call-runner';
import type { BoundService } from '../definition';
import { noSuchMethod, servedMethods, type RpcLog } from '../served-methods';
import type { MessageTransport, StartStream } from '../transport';
import { unaryOver } from '../unary-over';
import { InProcessCall } from './in-process-call';

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
  const pass = (_: unknown, message: unknown): unknown => (freezesMessages ? freezeDeep(message) : message);
  const calls = new CallRunner<unknown>({
    identified: caller !== undefined,
    decode: pass,
    encode: pass,
    log,
    actors,
    onDenied: (denied) => log?.warn(denied, 'call denied'),
  });

  const start: StartStream<unknown> = (call, reader) => {
    const served = methods.get(call.service)?.get(call.method);
    if (served === undefined) throw noSuchMethod(call);
    const started = new InProcessCall(call, reader, served.streams);
    started.run(calls.accept({ served, context: started.context, caller }, started));
    return started;
  };

  return { carries: 'messages', unary: unaryOver(start), serverStream: start };
}

/** Freezes the message deeply, except for bytes. */
function freezeDeep(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || ArrayBuffer.isView(message)) return message;
  Object.freeze(message);
  for (const value of Object.values(message)) freezeDeep(value);
  return message;
}
