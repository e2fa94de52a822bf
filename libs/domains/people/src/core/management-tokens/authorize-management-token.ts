import {
  hasPermission,
  isOpenToManagementTokens,
  isPlatformPermission,
  type OrganizationRole,
  type Permission,
} from '@gateway/base';
import { isIdLike } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import { auditRefusedSignIn } from '../sign-in/audit-refused-sign-in';
import { throttleUnknownManagementToken } from '../sign-in/sign-in-throttle';
import { labelOfManagementToken, stateOfManagementToken, type ManagementToken } from './management-token';

/** How often the use of a token is written to the database. */
const USE_INTERVAL_MS = 60_000;

export interface AuthorizeManagementToken {
  readonly token: string;
  /** Undefined: a valid token is enough. */
  readonly permission: Permission | undefined;
  readonly organizationId: string | undefined;
  /** Whether the request changes something. */
  readonly changes: boolean;
  readonly ipAddress: string;
}

export type ManagementTokenAuthorization =
  | {
      readonly kind: 'allowed';
      readonly token: ManagementToken;
      /** As the audit log shows it. */
      readonly label: string;
    }
  | { readonly kind: 'not_valid' | 'forbidden' | 'no_such_organization' }
  | { readonly kind: 'too_many_attempts'; readonly retryAfterMs: number };

type AuthorizePorts = Pick<
  PeoplePorts,
  | 'managementTokens'
  | 'memberships'
  | 'attempts'
  | 'addressRanges'
  | 'auditLog'
  | 'secrets'
  | 'clock'
  | 'newId'
>;

/** Authenticates the token and checks its permission. Unknown tokens of one address are limited, and delay no known one. */
export async function authorizeManagementToken(
  ports: AuthorizePorts,
  { token: secret, permission, organizationId, changes, ipAddress }: AuthorizeManagementToken,
): Promise<ManagementTokenAuthorization> {
  const now = ports.clock.now();
  const token = await ports.managementTokens.findBySecret(ports.secrets.sha256(secret));
  if (!token) return refuseUnknown(ports, ipAddress);
  if (stateOfManagementToken(token, now) !== 'active') return { kind: 'not_valid' };
  if (token.lastUsedAt === undefined || now - token.lastUsedAt >= USE_INTERVAL_MS) {
    await ports.managementTokens.recordUse(token.id, now);
  }
  if (permission !== undefined) {
    const kind = await decideForManagementToken(ports, token, permission, organizationId);
    if (kind !== 'allowed') return { kind };
    if (!isOpenToManagementTokens(permission, token.access, changes ? 'change' : 'read')) {
      return { kind: 'forbidden' };
    }
  }
  return { kind: 'allowed', token, label: labelOfManagementToken(token) };
}

async function refuseUnknown(
  ports: AuthorizePorts,
  ipAddress: string,
): Promise<ManagementTokenAuthorization> {
  const wait = await throttleUnknownManagementToken(ports, ipAddress, ports.clock.now());
  if (!wait) return { kind: 'not_valid' };
  if (wait.isFirst) {
    await auditRefusedSignIn(ports, { member: undefined, ipAddress, reason: 'unknown_management_tokens' });
  }
  return { kind: 'too_many_attempts', retryAfterMs: wait.retryAfterMs };
}

/** Whether the token's role has the permission. An organization of others looks the same as one that does not exist. */
export async function decideForManagementToken(
  { memberships }: Pick<PeoplePorts, 'memberships'>,
  { scope, creator }: ManagementToken,
  permission: Permission,
  organizationId: string | undefined,
): Promise<'allowed' | 'forbidden' | 'no_such_organization'> {
  const roles = rolesOf(scope, organizationId);
  if (isPlatformPermission(permission)) {
    if (!hasPermission(roles, permission)) return 'forbidden';
    if (organizationId === undefined) return 'allowed';
  }
  if (organizationId === undefined || !isIdLike(organizationId)) return 'no_such_organization';
  if (scope && scope.organizationId !== organizationId) return 'no_such_organization';
  if (!scope && !(await memberships.find(organizationId, creator.id)).exists) return 'no_such_organization';
  return hasPermission(roles, permission) ? 'allowed' : 'forbidden';
}

function rolesOf(scope: ManagementToken['scope'], organizationId: string | undefined) {
  if (!scope) return { memberRole: 'operator', organizationRole: undefined } as const;
  const organizationRole: OrganizationRole | undefined =
    scope.organizationId === organizationId ? scope.role : undefined;
  return { memberRole: 'member', organizationRole } as const;
}
