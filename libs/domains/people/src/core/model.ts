import type { OrganizationRole, UnixMs } from '@gateway/base';
import type { Member, Session, AuditEntry } from '@gateway/auth-shared';

export type { OrganizationRole };

/** A member as stored. */
export interface StoredMember extends Member {
  /** By an operator: cannot sign in. */
  readonly disabled: boolean;
  /** IANA name; empty: unknown. */
  readonly timeZone: string;
  /** Absent: the member signs in by single sign-on only. */
  readonly passwordHash?: string;
  /** The second factor; active once it is confirmed. */
  readonly totp?: { readonly encryptedSecret: string; readonly confirmed: boolean };
}

/** An organization that a member belongs to, and their role there. */
export interface Membership {
  readonly organization: { readonly id: string; readonly name: string; readonly suspended: boolean };
  readonly role: OrganizationRole;
}

/** A member as shown to their organization. */
export interface OrganizationMember {
  /** The member id. */
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: OrganizationRole;
  readonly joinedAt: UnixMs;
  readonly lastSeenAt?: UnixMs;
  readonly secondFactor: boolean;
}

/** A member as shown to operators. */
export interface Person extends Member {
  readonly createdAt: UnixMs;
  readonly lastSeenAt?: UnixMs;
  readonly secondFactor: boolean;
  /** By an operator: cannot sign in. */
  readonly disabled: boolean;
  readonly memberships: readonly Membership[];
  /** Ordered by issuer. */
  readonly identities: readonly Identity[];
}

/** A member's identity at an identity provider, without its subject. */
export interface Identity {
  /** The provider's issuer URL. */
  readonly issuer: string;
  readonly linkedAt: UnixMs;
}

/** An invitation to join an organization, with a single-use link. */
export interface Invitation {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: OrganizationRole;
  /** As customers see the person: an email address, or `Operator`. */
  readonly invitedBy: string;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs;
  readonly acceptedAt?: UnixMs;
  readonly revokedAt?: UnixMs;
}

/** People with a verified email of this domain join the organization at their first single sign-on. */
export interface OrganizationDomain {
  /** In lower case and punycode. */
  readonly domain: string;
  readonly organizationId: string;
  readonly role: Exclude<OrganizationRole, 'owner'>;
  /** An operator's email address. */
  readonly mappedBy: string;
  readonly mappedAt: UnixMs;
}

/** A session to insert in the transaction of the change that opens it. */
export interface NewSession {
  readonly tokenSha256: Buffer;
  readonly session: Session;
  readonly audit: AuditEntry;
}
