import { endWith, failureOf, tracing } from '@gateway/telemetry';
import type { CallOptions, GeneratedMethod, MessageCodec, RpcClient, ServiceDefinition } from './definition';
import { encodeMessage } from './encode-message';
import { MessageStream, type StreamEnd } from './message-stream';
import { openTracedCall } from './traced-call';
import type { RpcTransport, TransportCall } from './transport';

export interface ClientDefaults {
  /** Default deadline of unary calls. Streams have no default. */
  readonly unaryTimeoutMs: number;
}

const DEFAULTS: ClientDefaults = { unaryTimeoutMs: 5_000 };

/** The longest delay of Node's timers, about 24 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Values of the protobuf option `idempotency_level`. */
const IDEMPOTENT_LEVELS: ReadonlySet<string> = new Set(['IDEMPOTENT', 'NO_SIDE_EFFECTS']);

/** A typed client for one service over any transport. */
export function createClient<Service extends ServiceDefinition>(
  definition: Service,
  transport: RpcTransport,
  defaults: ClientDefaults = DEFAULTS,
): RpcClient<Service> {
  const client: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(definition.methods)) {
    client[name] = method.responseStream
      ? streamCaller(definition.fullName, method, transport)
      : unaryCaller(definition.fullName, method, transport, defaults);
  }
  return client as RpcClient<Service>;
}

/** A client of each server of the service that is reachable now. */
export function createClientOfEachServer<Service extends ServiceDefinition>(
  definition: Service,
  transport: RpcTransport,
): RpcClient<Service>[] {
  const servers = (transport.carries === 'bytes' && transport.everyServer?.()) || [transport];
  return servers.map((server) => createClient(definition, server));
}

function unaryCaller(
  service: string,
  method: GeneratedMethod,
  transport: RpcTransport,
  { unaryTimeoutMs }: ClientDefaults,
) {
  const { requestType, responseType } = codecsOf(method);
  const decode = (bytes: Uint8Array): unknown => responseType.decode(bytes);
  const send = (message: unknown, options?: CallOptions): Promise<unknown> => {
    try {
      if (transport.carries === 'messages') {
        return transport.unary(callOf(service, method, message, options, unaryTimeoutMs));
      }
      const request = encodeMessage(requestType, message);
      return transport.unary(callOf(service, method, request, options, unaryTimeoutMs)).then(decode);
    } catch (error) {
      // A message that cannot be encoded.
      return Promise.reject(error);
    }
  };
  return (request: unknown, options?: CallOptions): Promise<unknown> => {
    const tracer = tracing();
    const traced = tracer && openTracedCall(tracer, service, method.name, options);
    return traced ? endWith(traced.span, send(request, traced.options)) : send(request, options);
  };
}

function streamCaller(service: string, method: GeneratedMethod, transport: RpcTransport) {
  const { requestType, responseType } = codecsOf(method);
  const decode = (bytes: Uint8Array): unknown => responseType.decode(bytes);
  const asIs = (message: unknown): unknown => message;
  return (message: unknown, options?: CallOptions): AsyncIterable<unknown> => {
    const request = transport.carries === 'messages' ? message : encodeMessage(requestType, message);
    const tracer = tracing();
    const traced = tracer && openTracedCall(tracer, service, method.name, options);
    const seen = traced ? traced.options : options;
    const onEnd: StreamEnd | undefined = traced && ((end) => traced.span.end(end && failureOfEnd(end)));
    if (transport.carries === 'messages') {
      const call = callOf(service, method, request, seen, undefined);
      return new MessageStream(call, transport.serverStream, { decode: asIs, onEnd });
    }
    const call = callOf(service, method, request as Uint8Array, seen, undefined);
    return new MessageStream(call, transport.serverStream, { decode, onEnd });
  };
}

function failureOfEnd(end: Error | 'cancelled'): string {
  return end === 'cancelled' ? end : failureOf(end);
}

function callOf<Payload>(
  service: string,
  { name: method, options: declared }: GeneratedMethod,
  request: Payload,
  options: CallOptions | undefined,
  timeoutMs: number | undefined,
): TransportCall<Payload> {
  const idempotent = IDEMPOTENT_LEVELS.has(declared?.idempotencyLevel ?? '');
  if (options === undefined) return { service, method, request, idempotent, timeoutMs };
  const givenMs = options.timeoutMs ?? timeoutMs;
  return {
    service,
    method,
    request,
    idempotent,
    signal: options.signal,
    timeoutMs: givenMs && Math.min(givenMs, MAX_TIMEOUT_MS),
    metadata: options.metadata,
  };
}

function codecsOf(method: GeneratedMethod) {
  // Generated codecs also encode, but their invariant types do not fit `GeneratedMethod`.
  return method as unknown as {
    requestType: MessageCodec<unknown>;
    responseType: MessageCodec<unknown>;
  };
}
