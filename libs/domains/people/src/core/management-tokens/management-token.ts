import {
  hasPermission,
  personLabel,
  utcDay,
  type ManagementTokenAccess,
  type ManagementTokenRole,
  type MemberRole,
  type OrganizationRole,
  type UnixMs,
  type UtcDay,
} from '@gateway/base';

/** The prefix of every management token. */
export const MANAGEMENT_TOKEN_PREFIX = 'mk-gw-';

/** A credential of scripts for the dashboard API. */
export interface ManagementToken {
  readonly id: string;
  /** Its organization, and the role there whose permissions it has. Absent: a token of the platform. */
  readonly scope?: { readonly organizationId: string; readonly role: ManagementTokenRole };
  readonly name: string;
  readonly last4: string;
  readonly access: ManagementTokenAccess;
  readonly createdAt: UnixMs;
  /** The last valid day. */
  readonly expiresOn: UtcDay;
  readonly revokedAt?: UnixMs;
  /** Accurate to one minute. */
  readonly lastUsedAt?: UnixMs;
  readonly creator: ManagementTokenCreator;
}

/** The person who created the token, as they are now. */
interface ManagementTokenCreator {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly disabled: boolean;
  readonly memberRole: MemberRole;
  /** Their role in the organization of the token, if any. */
  readonly organizationRole: OrganizationRole | undefined;
}

export type ManagementTokenState = 'active' | 'expired' | 'revoked' | 'creator_without_access';

/** A token works only while the person who created it has the permission to create it. */
export function stateOfManagementToken(
  { scope, expiresOn, revokedAt, creator }: ManagementToken,
  now: UnixMs,
): ManagementTokenState {
  if (revokedAt !== undefined) return 'revoked';
  if (expiresOn < utcDay(now)) return 'expired';
  const permission = scope ? 'management_tokens:manage' : 'platform:management_tokens';
  return !creator.disabled && hasPermission(creator, permission) ? 'active' : 'creator_without_access';
}

/** The token as the audit log shows it. Customers do not see who acted as an operator. */
export function labelOfManagementToken({ name, scope, creator }: ManagementToken): string {
  const hidesCreator = scope !== undefined && creator.memberRole === 'operator';
  return `${name} (token of ${hidesCreator ? 'an operator' : personLabel(creator)})`;
}
