import { isoTime, timeOrNull } from '@gateway/admin-calls';
import { ManagementTokenAccess, ManagementTokenState, type ManagementToken } from '@gateway/contracts/auth';
import { organizationRoleView } from './people-views';

const STATES = {
  [ManagementTokenState.MANAGEMENT_TOKEN_STATE_UNSPECIFIED]: 'expired',
  [ManagementTokenState.MANAGEMENT_TOKEN_STATE_ACTIVE]: 'active',
  [ManagementTokenState.MANAGEMENT_TOKEN_STATE_EXPIRED]: 'expired',
  [ManagementTokenState.MANAGEMENT_TOKEN_STATE_REVOKED]: 'revoked',
  [ManagementTokenState.MANAGEMENT_TOKEN_STATE_CREATOR_WITHOUT_ACCESS]: 'creator_without_access',
} as const satisfies Readonly<Record<ManagementTokenState, string>>;

/** Customers do not see which operator created a token. */
export function managementTokenView(token: ManagementToken, isOperator: boolean) {
  const canWrite = token.access === ManagementTokenAccess.MANAGEMENT_TOKEN_ACCESS_READ_WRITE;
  return {
    id: token.id,
    name: token.name,
    last4: token.last4,
    role: roleOf(token),
    access: canWrite ? 'read_write' : 'read',
    state: STATES[token.state],
    created_by: token.createdByOperator && !isOperator ? null : token.createdBy,
    created_at: isoTime(token.createdUnixMs),
    expires_on: token.expiresOn,
    revoked_at: timeOrNull(token.revokedUnixMs),
    last_used_at: timeOrNull(token.lastUsedUnixMs),
  } as const;
}

function roleOf({ role }: ManagementToken) {
  if (role === undefined) return 'operator';
  const own = organizationRoleView(role);
  return own === 'admin' || own === 'billing' ? own : 'member';
}
