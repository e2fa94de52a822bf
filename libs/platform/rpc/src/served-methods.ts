import { createLogSampler } from '@gateway/base';
import { callersOf, isAudited, permissionOf } from '@gateway/contracts/callers';
import { GatewayError, toGatewayError } from '@gateway/errors';
import type { BoundService, CallAccess, CallContext, MessageCodec } from './definition';
import { encodeMessage } from './encode-message';
import { HandlerStream, type HandlerReader } from './handler-stream';
import { RpcError } from './rpc-error';
import { invokeInSpan, openServerSpan } from './traced-call';

/** For failures whose details callers do not receive. Compatible with a pino logger. */
export interface RpcLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** One method of a bound service, for transports. */
export interface ServedMethod {
  readonly service: string;
  readonly method: string;
  /** The services that may call it, by its contract. */
  readonly callers: readonly string[];
  /** What the actor needs, by its contract; undefined: the call has no actor. */
  readonly permission: string | undefined;
  /** Whether it changes something, by its contract. */
  readonly audited: boolean;
  /** Replaces `permission` and `audited` where the contract leaves them to the message. */
  readonly accessOf?: (request: unknown) => CallAccess;
  readonly streams: boolean;
  /** Runs the handler of a unary method. May throw. */
  invoke(request: unknown, context: CallContext): Promise<unknown>;
  /** Runs the handler of a streaming method, with the first read. */
  stream(request: unknown, context: CallContext, reader: HandlerReader): HandlerStream;
  /** For transports of bytes. */
  decode(request: Uint8Array): unknown;
  encode(response: unknown): Uint8Array;
}

/** The permission of a contract that leaves it to the message. */
const ENDPOINT = 'endpoint';

export type ServedMethods = ReadonlyMap<string, ReadonlyMap<string, ServedMethod>>;

/** The methods by service and method name. Throws if a service is given twice, or a method streams its requests. */
export function servedMethods(services: readonly BoundService[]): ServedMethods {
  const byService = new Map<string, Map<string, ServedMethod>>();
  for (const { definition, handlers, accessOf } of services) {
    const service = definition.fullName;
    if (byService.has(service)) throw new Error(`${service} is served twice`);
    const byMethod = new Map<string, ServedMethod>();
    byService.set(service, byMethod);
    for (const [property, generated] of Object.entries(definition.methods)) {
      if (generated.responseStream && permissionOf(`${service}/${generated.name}`) !== undefined) {
        throw new Error(`${service}/${generated.name} streams, so it cannot verify an actor`);
      }
      if (generated.requestStream) throw new Error(`${service}/${generated.name} streams its requests`);
      const { requestType, responseType } = generated as unknown as {
        requestType: MessageCodec<unknown>;
        responseType: MessageCodec<unknown>;
      };
      const { name: method, responseStream: streams } = generated;
      const handle = (request: unknown, context: CallContext): unknown =>
        handlers[property]?.(request as never, context);
      const permission = permissionOf(`${service}/${method}`);
      byMethod.set(method, {
        service,
        method,
        callers: callersOf(`${service}/${method}`),
        permission,
        ...(accessOf && permission === ENDPOINT && { accessOf: (request) => accessOf(method, request) }),
        audited: isAudited(`${service}/${method}`),
        streams,
        invoke: (request, context) => {
          const span = openServerSpan(service, method, context);
          const invoke = (seen: CallContext) => handle(request, seen) as Promise<unknown>;
          return span === undefined ? invoke(context) : invokeInSpan(span, invoke);
        },
        stream: (request, context, reader) => {
          const span = openServerSpan(service, method, context);
          const start = () => handle(request, span?.context ?? context) as AsyncIterable<unknown>;
          return new HandlerStream(start, reader, span);
        },
        decode: (request) => requestType.decode(request),
        encode: (response) => encodeMessage(responseType, response),
      });
    }
  }
  return byService;
}

/** `no_capacity` refusals are logged once per method and interval, with the number of suppressed lines. */
const REFUSAL_LOG_INTERVAL_MS = 5_000;
const sampler = createLogSampler(() => performance.now(), { everyMs: REFUSAL_LOG_INTERVAL_MS });

/**
 * Logs a handler's failure if it has details that the caller does not receive.
 * `no_capacity` refusals come by the thousand, so they are sampled and logged
 * without their stacks.
 */
export function reportFailure(log: RpcLog | undefined, served: ServedMethod, thrown: unknown): void {
  if (log === undefined) return;
  const error = toGatewayError(thrown);
  const fields = { err: thrown, rpc: `${served.service}/${served.method}` };
  if (!(thrown instanceof GatewayError) || error.row.advice === 'none') log.error(fields, 'a call failed');
  else if (error.code === 'no_capacity') logRefusal(log, fields.rpc, error);
  else if (error.internalMessage !== undefined || error.cause !== undefined) {
    log.warn(fields, 'a call failed');
  }
}

function logRefusal(log: RpcLog, rpc: string, { internalMessage: reason }: GatewayError): void {
  const suppressed = sampler.sample(rpc);
  if (suppressed !== undefined) log.warn({ rpc, reason, suppressed }, 'a call was refused: no capacity');
}

export function noSuchMethod(call: { readonly service: string; readonly method: string }): RpcError {
  return new RpcError('unimplemented', `${call.service}/${call.method} is not served here`);
}
