import { createLogSampler } from '@gateway/base';
import { GatewayError, toGatewayError } from '@gateway/errors';
import { tracing } from '@gateway/telemetry';
import type { BoundService, CallContext, MessageCodec } from './definition';
import { encodeMessage } from './encode-message';
import { RpcError } from './rpc-error';
import { invokeTraced } from './traced-call';

/** Where a transport notes what its callers do not get to see. A pino logger fits. */
export interface RpcLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** One method of a bound service as a transport sees it. */
export interface ServedMethod {
  readonly service: string;
  readonly method: string;
  readonly streams: boolean;
  /** A promise, or an async iterable for a method that streams. May throw. */
  invoke(request: unknown, context: CallContext): unknown;
  /** For transports that carry bytes. */
  decode(request: Uint8Array): unknown;
  encode(response: unknown): Uint8Array;
}

export type ServedMethods = ReadonlyMap<string, ReadonlyMap<string, ServedMethod>>;

/** The methods of the services by service and method name. Throws on a service given twice and on streamed requests, which no transport here carries. */
export function servedMethods(services: readonly BoundService[]): ServedMethods {
  const byService = new Map<string, Map<string, ServedMethod>>();
  for (const { definition, handlers } of services) {
    const service = definition.fullName;
    if (byService.has(service)) throw new Error(`${service} is served twice`);
    const byMethod = new Map<string, ServedMethod>();
    byService.set(service, byMethod);
    for (const [property, generated] of Object.entries(definition.methods)) {
      if (generated.requestStream) throw new Error(`${service}/${generated.name} streams its requests`);
      const { requestType, responseType } = generated as unknown as {
        requestType: MessageCodec<unknown>;
        responseType: MessageCodec<unknown>;
      };
      const { name: method, responseStream: streams } = generated;
      const invoke = (request: unknown, context: CallContext): unknown =>
        handlers[property]?.(request as never, context);
      byMethod.set(method, {
        service,
        method,
        streams,
        invoke: (request, context) => {
          const tracer = tracing();
          if (tracer === undefined || context.metadata['traceparent'] === undefined) {
            return invoke(request, context);
          }
          return invokeTraced(tracer, { service, method, streams }, context, (seen) => invoke(request, seen));
        },
        decode: (request) => requestType.decode(request),
        encode: (response) => encodeMessage(responseType, response),
      });
    }
  }
  return byService;
}

/** Calls that are refused for want of capacity: a line per method and this long, with the number of those untold. */
const REFUSALS_EVERY_MS = 5_000;
const sampler = createLogSampler(() => performance.now(), { everyMs: REFUSALS_EVERY_MS });

/**
 * Notes a handler's failure where something about it does not cross to the
 * caller. Refusals for want of capacity come by the thousand: they are sampled,
 * without their stacks.
 */
export function reportFailure(log: RpcLog | undefined, served: ServedMethod, thrown: unknown): void {
  if (log === undefined) return;
  const error = toGatewayError(thrown);
  const fields = { err: thrown, rpc: `${served.service}/${served.method}` };
  if (!(thrown instanceof GatewayError) || error.row.advice === 'none') log.error(fields, 'a call failed');
  else if (error.code === 'no_capacity') tellRefusal(log, fields.rpc, error);
  else if (error.internalMessage !== undefined || error.cause !== undefined) {
    log.warn(fields, 'a call failed');
  }
}

function tellRefusal(log: RpcLog, rpc: string, { internalMessage: reason }: GatewayError): void {
  const untold = sampler.sample(rpc);
  if (untold !== undefined) log.warn({ rpc, reason, untold }, 'a call is refused for want of capacity');
}

export function noSuchMethod(call: { readonly service: string; readonly method: string }): RpcError {
  return new RpcError('unimplemented', `${call.service}/${call.method} is not served here`);
}
