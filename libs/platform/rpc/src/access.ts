import { InvalidAssertion, type ActingPerson, type ActorVerifier } from '@gateway/actors';
import { hasPermission, isPermission } from '@gateway/base';
import type { CallContext, CallMetadata } from './definition';
import { RpcError } from './rpc-error';
import type { ServedMethod } from './served-methods';

/** A call that was refused because its caller or its person may not make it. */
export interface DeniedCall {
  /** Such as "gateway.auth.v1.Auth/VerifyKey". */
  readonly rpc: string;
  /** The service that called; undefined when its certificate names none. */
  readonly caller: string | undefined;
  readonly reason: string;
}

/** The metadata with the signed assertion of the acting person. */
export const ASSERTION_HEADER = 'gateway-person';

/** "signed_in": any person. */
const SIGNED_IN = 'signed_in';

/** The error for a caller that is not among the callers of the method's contract; undefined when the call is allowed. */
export function denial(
  { service, method, callers }: Pick<ServedMethod, 'service' | 'method' | 'callers'>,
  caller: string | undefined,
): RpcError | undefined {
  if (caller !== undefined && callers.includes(caller)) return undefined;
  return new RpcError(
    'permission_denied',
    `${caller ?? 'a client without a service name'} may not call ${service}/${method}`,
  );
}

/**
 * The person of a call, whom its assertion names and who has the permission of
 * the method's contract. Throws an RpcError `unauthenticated` or
 * `permission_denied` otherwise. Without a verifier every call is refused.
 */
export async function admitPerson(
  { service, method, permission = '' }: Pick<ServedMethod, 'service' | 'method' | 'permission'>,
  { request, metadata }: { readonly request: unknown; readonly metadata: CallMetadata },
  verifier: ActorVerifier | undefined,
): Promise<ActingPerson> {
  const rpc = `${service}/${method}`;
  const assertion = metadata[ASSERTION_HEADER];
  if (verifier === undefined || assertion === undefined || assertion === '') {
    throw new RpcError('unauthenticated', `${rpc} needs the assertion of a person`);
  }
  const person = await verifyPerson(verifier, assertion, rpc);
  const organizationId = organizationOf(request);
  const { organization, memberRole } = person;
  if (organizationId !== undefined && organizationId !== organization?.id) {
    throw new RpcError('permission_denied', `the assertion does not cover the organization of ${rpc}`);
  }
  if (permission === SIGNED_IN) return person;
  // A role counts only in a request about its organization.
  const organizationRole = organizationId === undefined ? undefined : organization?.role;
  if (isPermission(permission) && hasPermission({ memberRole, organizationRole }, permission)) return person;
  throw new RpcError('permission_denied', `the person lacks ${permission} for ${rpc}`);
}

async function verifyPerson(verifier: ActorVerifier, assertion: string, rpc: string): Promise<ActingPerson> {
  try {
    return await verifier.verify(assertion);
  } catch (error) {
    if (!(error instanceof InvalidAssertion)) throw error;
    throw new RpcError('unauthenticated', `${rpc}: ${error.message}`, error);
  }
}

function organizationOf(request: unknown): string | undefined {
  const { organizationId } = request as { readonly organizationId?: string };
  return organizationId;
}

/** The verified person of a call. Throws if its contract declares no permission. */
export function personOf({ person }: CallContext): ActingPerson {
  if (person === undefined) throw new Error('the method has no permission in its contract, so no person');
  return person;
}
