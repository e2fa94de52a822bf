import type { CallOptions, GeneratedMethod, MessageCodec, RpcClient, ServiceDefinition } from './definition';
import type { RpcTransport, TransportCall } from './transport';

export interface ClientDefaults {
  /** Deadline of unary calls that name none. Streams have none unless named. */
  readonly unaryTimeoutMs: number;
}

const DEFAULTS: ClientDefaults = { unaryTimeoutMs: 5_000 };

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

function unaryCaller(
  service: string,
  method: GeneratedMethod,
  transport: RpcTransport,
  defaults: ClientDefaults,
) {
  const { requestType, responseType } = codecsOf(method);
  return async (request: unknown, options: CallOptions = {}) => {
    const bytes = await transport.unary({
      timeoutMs: defaults.unaryTimeoutMs,
      ...callOf(service, method, requestType, request, options),
    });
    return responseType.decode(bytes);
  };
}

function streamCaller(service: string, method: GeneratedMethod, transport: RpcTransport) {
  const { requestType, responseType } = codecsOf(method);
  return async function* (request: unknown, options: CallOptions = {}) {
    const call = callOf(service, method, requestType, request, options);
    for await (const bytes of transport.serverStream(call)) {
      yield responseType.decode(bytes);
    }
  };
}

function callOf(
  service: string,
  method: GeneratedMethod,
  requestType: MessageCodec<unknown>,
  request: unknown,
  options: CallOptions,
): TransportCall {
  return { service, method: method.name, request: requestType.encode(request).finish(), ...options };
}

function codecsOf(method: GeneratedMethod) {
  // Generated codecs always encode as well; only their message types are too narrow to say so here.
  return method as unknown as {
    requestType: MessageCodec<unknown>;
    responseType: MessageCodec<unknown>;
  };
}
