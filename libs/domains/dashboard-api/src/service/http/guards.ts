import { BACKGROUND_HEADER, type Permission } from '@gateway/dashboard-contract';
import type { Request, RequestHandler, Response } from 'express';
import { isOwnHost, isSameOrigin } from '../../core/same-origin';
import { DashboardError } from '../dashboard-error';
import type { DashboardApiPorts } from '../ports';
import type { SignedIn } from './implement';
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
 * sites need a CORS preflight.
 */
export function createCrossSiteGuard(publicOrigin: string | undefined): RequestHandler {
  return (request, _response, next) => {
    if (READING_METHODS.has(request.method)) return next();
    const { origin, host } = request.headers;
    if (!isSameOrigin({ origin, host, publicOrigin })) throw new DashboardError('cross_origin');
    const [mediaType = ''] = (request.headers['content-type'] ?? '').split(';');
    if (mediaType.trim().toLowerCase() !== 'application/json')
      throw new DashboardError('unsupported_media_type');
    return next();
  };
}

/**
 * Returns the session of a request if it has the permission. Auth decides.
 * @throws DashboardError `not_signed_in`, `forbidden`, or `not_found` for an organization without membership.
 */
export async function authorize(
  { authAdmin, settings }: Pick<DashboardApiPorts, 'authAdmin' | 'settings'>,
  request: Request,
  { permission, organizationId, address }: AuthorizationInput,
): Promise<SignedIn> {
  const sessionToken = sessionTokenOf(request, settings);
  if (sessionToken === undefined) throw new DashboardError('not_signed_in');
  const { outcome, organizationRole } = await authAdmin.authorize({
    sessionToken,
    permission: permission ?? '',
    organizationId,
    ipAddress: address,
    background: request.get(BACKGROUND_HEADER) !== undefined,
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
    case 'noSuchOrganization':
      throw new DashboardError('not_found', { message: 'This organization does not exist.' });
    default:
      throw new DashboardError('not_signed_in');
  }
}

export interface AuthorizationInput {
  /** Absent: any session is sufficient. */
  readonly permission?: Permission;
  readonly organizationId?: string;
  /** The client's address. */
  readonly address: string;
}

/** Requires a session for unknown paths too, so that paths cannot be probed. */
export function createSessionGuard(ports: DashboardApiPorts): RequestHandler {
  return async (request, response, next) => {
    await authorize(ports, request, { address: addressOf(response) });
    next();
  };
}

/** The client's address in canonical form; empty when none can be read. */
export function addressOf(response: Response): string {
  return (response.locals['clientAddress'] as string | undefined) ?? '';
}
