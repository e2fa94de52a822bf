import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallActor, ActorSigner } from '@gateway/actors';
import { permissionOf } from '@gateway/contracts/callers';
import { ASSERTION_HEADER } from './access';
import type { RpcTransport, TransportCall } from './transport';

const acting = new AsyncLocalStorage<CallActor>();

/** Runs `work` for a person or token: its calls through acting transports carry their assertion. */
export function actAs<Result>(actor: CallActor, work: () => Result): Result {
  return acting.run(actor, work);
}

export interface ActingTransportOptions {
  /** The service behind the transport, which alone accepts the assertions. */
  readonly audience: string;
  readonly signer: ActorSigner;
}

/** Adds the assertion of the current actor to each call whose contract needs one. Outside `actAs` it adds none. */
export function createActingTransport(
  transport: RpcTransport,
  { audience, signer }: ActingTransportOptions,
): RpcTransport {
  async function withAssertion<Payload>(call: TransportCall<Payload>): Promise<TransportCall<Payload>> {
    const actor = acting.getStore();
    if (actor === undefined || permissionOf(`${call.service}/${call.method}`) === undefined) return call;
    const assertion = await signer.sign(actor, audience);
    return { ...call, metadata: { ...call.metadata, [ASSERTION_HEADER]: assertion } };
  }

  // Streams have no actor.
  if (transport.carries === 'bytes') {
    return {
      carries: 'bytes',
      unary: async (call) => transport.unary(await withAssertion(call)),
      serverStream: transport.serverStream,
    };
  }
  return {
    carries: 'messages',
    unary: async (call) => transport.unary(await withAssertion(call)),
    serverStream: transport.serverStream,
  };
}
