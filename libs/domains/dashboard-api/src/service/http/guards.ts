import { BACKGROUND_HEADER, DashboardError, isPermission } from '@gateway/dashboard-contract';
import type { Request, RequestHandler, Response } from 'express';
import { isOwnHost, isSameOrigin } from '../../core/same-origin';
import type { DashboardApiPorts } from '../ports';
import type { AuthorizationInput, Requester, SignedIn } from './implement';
import { authorizeManagementToken, managementTokenOf } from './management-token';
import { sessionTokenOf } from './session-cookie';

const READING_METHODS = new Set(['GET', 'HEAD']);

/** Rejects host names that another site could own. */
export function createHostGuard(publicOrigin: string | undefined): RequestHandler {
  return (request, _response, next) => {
    if (!isOwnHost({ host: request.headers.host, publicOrigin })) throw new DashboardError('unknown_host');
    next();
  };
}

/**
 * Protects writes in addition to the SameSite cookie: forms cannot send JSON, and scripts of other
 * sites need a CORS preflight. So do those that send a management token, whatever their origin.
 */
export function createCrossSiteGuard(publicOrigin: string | undefined): RequestHandler {
  return (request, _response, next) => {
    if (READING_METHODS.has(request.method)) return next();
    const { origin, host } = request.headers;
    if (managementTokenOf(request) === undefined && !isSameOrigin({ origin, host, publicOrigin }))
      throw new DashboardError('cross_origin');
    const [mediaType = ''] = (request.headers['content-type'] ?? '').split(';');
    if (mediaType.trim().toLowerCase() !== 'application/json')
      throw new DashboardError('unsupported_media_type');
    return next();
  };
}

/**
 * Returns the person or management token of a request if they have the permission. Auth decides. With a management
 * token, the session cookie is ignored.
 * @throws DashboardError `not_signed_in`, `management_token_not_valid`, `forbidden`, or `not_found` for an organization
 *   of others.
 */
export async function authorize(
  ports: Pick<DashboardApiPorts, 'authAdmin' | 'settings'>,
  request: Request,
  input: AuthorizationInput,
): Promise<Requester> {
  const token = managementTokenOf(request);
  return token === undefined
    ? { kind: 'person', signedIn: await authorizePerson(ports, request, input) }
    : { kind: 'token', ...(await authorizeManagementToken(ports, token, input)) };
}

async function authorizePerson(
  { authAdmin, settings }: Pick<DashboardApiPorts, 'authAdmin' | 'settings'>,
  request: Request,
  { access, confirmed, organizationId, address }: AuthorizationInput,
): Promise<SignedIn> {
  const sessionToken = sessionTokenOf(request, settings);
  if (sessionToken === undefined) throw new DashboardError('not_signed_in');
  const { outcome, organizationRole } = await authAdmin.authorize({
    sessionToken,
    permission: isPermission(access) ? access : '',
    organizationId,
    ipAddress: address,
    background: request.get(BACKGROUND_HEADER) !== undefined,
    confirmed,
  });
  switch (outcome?.$case) {
    case 'allowed': {
      const session = outcome.value;
      if (!session.member) throw new Error('the session has no member');
      return { session, member: session.member, sessionToken, organizationRole };
    }
    case 'forbidden':
      throw new DashboardError('forbidden');
    case 'secondFactorSetupRequired':
      throw new DashboardError('second_factor_setup_required');
    case 'confirmationRequired':
      throw new DashboardError('confirmation_required');
    case 'noSuchOrganization':
      throw new DashboardError('not_found', { message: 'This organization does not exist.' });
    default:
      throw new DashboardError('not_signed_in');
  }
}

/** Requires a session or a management token for unknown paths too, so that paths cannot be probed. */
export function createSessionGuard(ports: DashboardApiPorts): RequestHandler {
  return async (request, response, next) => {
    await authorize(ports, request, {
      access: 'authenticated',
      changes: false,
      confirmed: false,
      address: addressOf(response),
    });
    next();
  };
}

/** The client's address in canonical form; empty when none can be read. */
export function addressOf(response: Response): string {
  return (response.locals['clientAddress'] as string | undefined) ?? '';
}
