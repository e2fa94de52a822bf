import type { AuthorizedManagementToken } from '@gateway/contracts/auth';
import { DashboardError, isPermission } from '@gateway/dashboard-contract';
import type { Request } from 'express';
import type { DashboardApiPorts } from '../ports';
import type { AuthorizationInput } from './implement';

const MANAGEMENT_TOKEN = /^Bearer (mk-gw-\S{1,200})$/;

/**
 * The management token of a request, which then needs no session. Other credentials in the header are ignored: a proxy
 * in front of the dashboard may have its own.
 */
export function managementTokenOf(request: Request): string | undefined {
  return MANAGEMENT_TOKEN.exec(request.headers.authorization ?? '')?.[1];
}

/**
 * Returns the token of a request if it has the permission. Auth decides.
 * @throws DashboardError `management_token_not_valid`, `too_many_attempts`, `forbidden`, or `not_found` for an
 *   organization of others.
 */
export async function authorizeManagementToken(
  { authAdmin }: Pick<DashboardApiPorts, 'authAdmin'>,
  token: string,
  { access, changes, organizationId, address }: AuthorizationInput,
): Promise<AuthorizedManagementToken> {
  const { outcome } = await authAdmin.authorizeManagementToken({
    token,
    permission: isPermission(access) ? access : '',
    organizationId,
    changes,
    ipAddress: address,
  });
  switch (outcome?.$case) {
    case 'allowed':
      if (access === 'signed_in') throw notForManagementTokens();
      return outcome.value;
    case 'forbidden':
      throw notForManagementTokens();
    case 'noSuchOrganization':
      throw new DashboardError('not_found', { message: 'This organization does not exist.' });
    case 'tooManyAttempts':
      throw new DashboardError('too_many_attempts', { retryAfterMs: outcome.value.retryAfterMs });
    default:
      throw new DashboardError('management_token_not_valid');
  }
}

function notForManagementTokens(): DashboardError {
  return new DashboardError('forbidden', { message: 'This management token may not do this.' });
}
