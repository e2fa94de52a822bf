import type { Request, RequestHandler } from 'express';
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
 * Who is signed in.
 *
 * @throws DashboardError `not_signed_in`
 */
export async function signedInBy({ authAdmin }: DashboardApiPorts, request: Request): Promise<SignedIn> {
  const sessionToken = sessionTokenOf(request);
  if (sessionToken === undefined) throw new DashboardError('not_signed_in');
  const { member, expiresUnixMs } = await authAdmin.getSession({ sessionToken });
  if (!member) throw new DashboardError('not_signed_in');
  return { member, sessionToken, expiresUnixMs };
}

/** Which paths there are is not told to whoever is not signed in. */
export function createSessionGuard(ports: DashboardApiPorts): RequestHandler {
  return async (request, _response, next) => {
    await signedInBy(ports, request);
    next();
  };
}
