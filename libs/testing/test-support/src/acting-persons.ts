import {
  InvalidAssertion,
  type ActingPerson,
  type ActorSigner,
  type ActorVerifier,
  type CallActor,
} from '@gateway/actors';
import { auditOf, type AuditEntry } from '@gateway/base';
import {
  actAs,
  createActingTransport,
  createInProcessTransport,
  type BoundService,
  type RpcTransport,
  type TransportCall,
} from '@gateway/rpc';
import { newId, systemClock as clock } from '@gateway/runtime';

/** A person for handlers under test. Tests of auth need one in their database instead. */
export const TEST_OPERATOR: ActingPerson = {
  id: 'mem-operator',
  label: 'operator@example.com',
  ipAddress: '192.0.2.1',
  sessionId: 'ses-test',
  memberRole: 'operator',
};

/** Assertions without a signature, for tests of what handlers do with a person. */
export const unsignedActors: ActorVerifier & ActorSigner = {
  sign: async (person) => encodeURIComponent(JSON.stringify(person)),
  verify: async (assertion) => {
    try {
      return JSON.parse(decodeURIComponent(assertion)) as CallActor;
    } catch {
      throw new InvalidAssertion('the assertion is not an actor');
    }
  },
};

function organizationOf({ request }: TransportCall): Pick<CallActor, 'organization'> {
  const { organizationId } = request as { readonly organizationId?: string };
  return organizationId === undefined ? {} : { organization: { id: organizationId } };
}

/** Calls for a person or token. Unless they name an organization, they act in that of each message; bytes have none. */
export function actingFor(transport: RpcTransport, actor: () => CallActor): RpcTransport {
  const acting = createActingTransport(transport, { audience: 'test', signer: unsignedActors });
  const act = <Payload, Result>(call: TransportCall<Payload>, work: () => Result): Result =>
    actAs({ ...organizationOf(call), ...actor() }, work);
  if (acting.carries === 'bytes') {
    return { ...acting, unary: (call: TransportCall<Uint8Array>) => act(call, () => acting.unary(call)) };
  }
  return { ...acting, unary: (call: TransportCall) => act(call, () => acting.unary(call)) };
}

/** An audit entry for stores under test. */
export function createAuditEntry(action = 'test.change'): AuditEntry {
  return auditOf({ actor: TEST_OPERATOR, action, target: 'test', details: {} }, { newId, clock });
}

/** Calls the services for an operator, or for another person or token. */
export function inProcessFor(
  services: readonly BoundService[],
  actor: () => CallActor = () => TEST_OPERATOR,
): RpcTransport {
  return actingFor(createInProcessTransport(services, { actors: unsignedActors }), actor);
}
