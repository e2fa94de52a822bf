import type { UnixMs } from '@gateway/base';
import type { Member, Session, AuditEntry } from '@gateway/auth-shared';

/** An owner manages everything of an organization, an admin all but owners; a member reads. */
export type OrganizationRole = 'owner' | 'admin' | 'member';

/** A member's place in one organization. */
export interface Membership {
  readonly organization: { readonly id: string; readonly name: string; readonly suspended: boolean };
  readonly role: OrganizationRole;
}

/** A member as their organization sees them. */
export interface OrganizationMember {
  /** The member's. */
  readonly id: string;
  readonly email: string;
  readonly role: OrganizationRole;
  readonly joinedAt: UnixMs;
  readonly lastSeenAt?: UnixMs;
  readonly secondFactor: boolean;
}

/** A member as operators see them. */
export interface Person extends Member {
  readonly createdAt: UnixMs;
  readonly lastSeenAt?: UnixMs;
  readonly secondFactor: boolean;
  readonly memberships: readonly Membership[];
  /** By issuer. */
  readonly identities: readonly Identity[];
}

/** Who a member is at an identity provider, without the name that they have there. */
export interface Identity {
  /** As the provider names itself. */
  readonly issuer: string;
  readonly linkedAt: UnixMs;
}

/** A place in an organization, offered by a link that is good once. */
export interface Invitation {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: OrganizationRole;
  /** An email. */
  readonly invitedBy: string;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs;
  readonly acceptedAt?: UnixMs;
  readonly revokedAt?: UnixMs;
}

/** People whose verified email is of this domain join the organization when they first come by single sign-on. */
export interface OrganizationDomain {
  /** In lower case and punycode. */
  readonly domain: string;
  readonly organizationId: string;
  readonly role: Exclude<OrganizationRole, 'owner'>;
  /** An email. */
  readonly mappedBy: string;
  readonly mappedAt: UnixMs;
}

/** A session to be opened in the transaction of what brought it about. */
export interface NewSession {
  readonly tokenSha256: Buffer;
  readonly session: Session;
  readonly audit: AuditEntry;
}
