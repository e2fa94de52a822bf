import { InvalidAssertion, type ActingPerson, type ActorVerifier, type CallActor } from '@gateway/actors';
import { hasPermission, isOpenToManagementTokens, isPermission } from '@gateway/base';
import type { CallContext, CallMetadata } from './definition';
import { RpcError } from './rpc-error';
import type { ServedMethod } from './served-methods';

/** A call that was refused because its caller or its actor may not make it. */
export interface DeniedCall {
  /** Such as "gateway.auth.v1.Auth/VerifyKey". */
  readonly rpc: string;
  /** The service that called; undefined when its certificate names none. */
  readonly caller: string | undefined;
  readonly reason: string;
}

/** The metadata with the signed assertion of the acting person or token. */
export const ASSERTION_HEADER = 'gateway-person';

/** Any person, for their own data. */
const SIGNED_IN = 'signed_in';
/** Any person, and any management token. */
const AUTHENTICATED = 'authenticated';

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
 * The person or management token of a call, whom its assertion names and who has
 * the permission of the method's contract, or of its message. Throws an RpcError
 * `unauthenticated` or `permission_denied` otherwise. Without a verifier every call
 * that needs an actor is refused.
 */
export async function admitActor(
  served: AdmittedMethod,
  { request, metadata }: { readonly request: unknown; readonly metadata: CallMetadata },
  verifier: ActorVerifier | undefined,
): Promise<CallActor | undefined> {
  const { permission, audited } = served.accessOf?.(request) ?? served;
  if (permission === undefined) return undefined;
  const rpc = `${served.service}/${served.method}`;
  const assertion = metadata[ASSERTION_HEADER];
  if (verifier === undefined || assertion === undefined || assertion === '') {
    throw new RpcError('unauthenticated', `${rpc} needs the assertion of a person or a token`);
  }
  const actor = await verifyActor(verifier, assertion, rpc);
  const organizationId = organizationOf(request);
  const { organization, memberRole, tokenAccess } = actor;
  if (organizationId !== undefined && organizationId !== organization?.id) {
    throw new RpcError('permission_denied', `the assertion does not cover the organization of ${rpc}`);
  }
  if (permission === AUTHENTICATED || (permission === SIGNED_IN && tokenAccess === undefined)) return actor;
  // A role counts only in a request about its organization.
  const organizationRole = organizationId === undefined ? undefined : organization?.role;
  const isAdmitted =
    isPermission(permission) &&
    hasPermission({ memberRole, organizationRole }, permission) &&
    (tokenAccess === undefined ||
      isOpenToManagementTokens(permission, tokenAccess, audited ? 'change' : 'read'));
  if (isAdmitted) return actor;
  throw new RpcError('permission_denied', `the person or token lacks ${permission} for ${rpc}`);
}

type AdmittedMethod = Pick<ServedMethod, 'service' | 'method' | 'permission' | 'audited' | 'accessOf'>;

async function verifyActor(verifier: ActorVerifier, assertion: string, rpc: string): Promise<CallActor> {
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

/** The verified person or management token of a call. Throws if its contract declares no permission. */
export function actorOf({ actor }: Pick<CallContext, 'actor'>): CallActor {
  if (actor === undefined) throw new Error('the method has no permission in its contract, so no actor');
  return actor;
}

/** The verified person of a call that no management token may make. */
export function personOf(context: Pick<CallContext, 'actor'>): ActingPerson {
  const actor = actorOf(context);
  if (actor.tokenAccess === undefined) return actor;
  throw new RpcError('permission_denied', 'the method is for people, not for management tokens');
}
