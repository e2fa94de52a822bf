import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActingPerson, ActorSigner } from '@gateway/actors';
import { permissionOf } from '@gateway/contracts/callers';
import { ASSERTION_HEADER } from './access';
import type { RpcTransport, TransportCall } from './transport';

const acting = new AsyncLocalStorage<ActingPerson>();

/** Runs `work` for a person: its calls through acting transports carry their assertion. */
export function actAs<Result>(person: ActingPerson, work: () => Result): Result {
  return acting.run(person, work);
}

export interface ActingTransportOptions {
  /** The service behind the transport, which alone accepts the assertions. */
  readonly audience: string;
  readonly signer: ActorSigner;
}

/** Adds the assertion of the current person to each call whose contract needs one. Outside `actAs` it adds none. */
export function createActingTransport(
  transport: RpcTransport,
  { audience, signer }: ActingTransportOptions,
): RpcTransport {
  async function withAssertion<Payload>(call: TransportCall<Payload>): Promise<TransportCall<Payload>> {
    const person = acting.getStore();
    if (person === undefined || permissionOf(`${call.service}/${call.method}`) === undefined) return call;
    const assertion = await signer.sign(person, audience);
    return { ...call, metadata: { ...call.metadata, [ASSERTION_HEADER]: assertion } };
  }

  // Streams have no person.
  if (transport.carries === 'bytes') {
    return {
      carries: 'bytes',
      unary: async (call) => transport.unary(await withAssertion(call)),
      serverStream: (call) => transport.serverStream(call),
    };
  }
  return {
    carries: 'messages',
    unary: async (call) => transport.unary(await withAssertion(call)),
    serverStream: (call) => transport.serverStream(call),
  };
}
