import { BACKGROUND_HEADER, DashboardError, parts } from '@gateway/dashboard-contract';
import type { Request, RequestHandler } from 'express';
import { isOwnHost, isSameOrigin } from '../../core/same-origin';
import type { DashboardApiPorts } from '../ports';
import { requestClientOf } from './request-client';
import type { AuthorizationInput, Requester } from './implement';
import { managementTokenOf } from './management-token';
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
  { owners: { auth }, settings }: Pick<DashboardApiPorts, 'owners' | 'settings'>,
  request: Request,
  { access, organizationId, changes, confirmed, client }: AuthorizationInput,
): Promise<Requester> {
  const needed = { access, organization_id: organizationId };
  const secret = managementTokenOf(request);
  if (secret !== undefined) {
    const body = { ...needed, secret, changes };
    return { kind: 'token', token: await auth.call(parts.authorizeManagementToken, { body, client }) };
  }
  const token = sessionTokenOf(request, settings);
  if (token === undefined) throw new DashboardError('not_signed_in');
  const background = request.get(BACKGROUND_HEADER) !== undefined;
  const body = { ...needed, session_token: token, background, confirmed };
  return { kind: 'person', signedIn: await auth.call(parts.authorize, { body, client }) };
}

/** Requires a session or a management token for unknown paths too, so that paths cannot be probed. */
export function createSessionGuard(ports: DashboardApiPorts): RequestHandler {
  return async (request, response, next) => {
    await authorize(ports, request, {
      access: 'authenticated',
      changes: false,
      confirmed: false,
      client: requestClientOf(ports.settings, request, response),
    });
    next();
  };
}
