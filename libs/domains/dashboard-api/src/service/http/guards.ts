import type { Permission } from '@gateway/dashboard-contract';
import type { Request, RequestHandler, Response } from 'express';
import { isOwnHost, isSameOrigin } from '../../core/same-origin';
import { DashboardError } from '../dashboard-error';
import type { DashboardApiPorts } from '../ports';
import type { SignedIn } from './implement';
import { sessionTokenOf } from './session-cookie';

const READING_METHODS = new Set(['GET', 'HEAD']);

/** Nothing is served under a name that another site could have given to this address. */
export function createHostGuard(publicOrigin: string | undefined): RequestHandler {
  return (request, _response, next) => {
    if (!isOwnHost({ host: request.headers.host, publicOrigin })) throw new DashboardError('unknown_host');
    next();
  };
}

/**
 * Beside the SameSite cookie: a form of another site cannot send JSON, and a
 * script of another site is asked for its origin first.
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
 * Whose session it is, if they may do this. Auth decides.
 *
 * @throws DashboardError `not_signed_in`, `forbidden`, or `not_found` for an organization that is not theirs.
 */
export async function admitted(
  { authAdmin }: Pick<DashboardApiPorts, 'authAdmin'>,
  request: Request,
  { permission, organizationId, address }: WhatIsAsked,
): Promise<SignedIn> {
  const sessionToken = sessionTokenOf(request);
  if (sessionToken === undefined) throw new DashboardError('not_signed_in');
  const { outcome } = await authAdmin.authorize({
    sessionToken,
    permission: permission ?? '',
    organizationId,
    ipAddress: address,
  });
  switch (outcome?.$case) {
    case 'allowed': {
      const session = outcome.value;
      if (!session.member) throw new Error('a session has no member');
      return { session, member: session.member, sessionToken };
    }
    case 'forbidden':
      throw new DashboardError('forbidden');
    case 'noSuchOrganization':
      throw new DashboardError('not_found', { message: 'No such organization.' });
    default:
      throw new DashboardError('not_signed_in');
  }
}

export interface WhatIsAsked {
  /** Absent: being signed in is enough. */
  readonly permission?: Permission;
  readonly organizationId?: string;
  /** Where it is asked from. */
  readonly address: string;
}

/** Which paths there are is not told to whoever is not signed in. */
export function createSessionGuard(ports: DashboardApiPorts): RequestHandler {
  return async (request, response, next) => {
    await admitted(ports, request, { address: addressOf(response) });
    next();
  };
}

/** The client's address in canonical form; empty when none can be read. */
export function addressOf(response: Response): string {
  return (response.locals['clientAddress'] as string | undefined) ?? '';
}
