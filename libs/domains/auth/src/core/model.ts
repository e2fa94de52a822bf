import type { NanoUsd, UnixMs, UtcDay } from '@gateway/base';

/** What a key may be used for, as the public contract names it. */
export type Scope = 'chat' | 'usage:read';

export const SCOPES: readonly Scope[] = ['chat', 'usage:read'];

/** Caps of one key. An absent one does not apply. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly dailyBudgetNanoUsd?: NanoUsd;
  readonly concurrency?: number;
}

/** Caps of an organization. An absent one does not apply. */
export interface OrganizationLimits extends KeyLimits {
  /** The cap on `max_tokens`. */
  readonly maxOutputTokens?: number;
  /** Whether `n` above 1 is allowed. */
  readonly multipleCompletions: boolean;
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly suspended: boolean;
  readonly suspendedReason?: string;
  readonly limits: OrganizationLimits;
  readonly createdAt: UnixMs;
  /** Grows by one with each change. */
  readonly version: number;
}

/** Everything about a key that can be chosen, in canonical form. */
export interface KeySettings {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Empty allows every model. */
  readonly allowedModels: readonly string[];
  /** Addresses and CIDR ranges in canonical form. Empty allows every address. */
  readonly ipAllowlist: readonly string[];
  /** The key works until the end of this day, UTC. */
  readonly expiresOn?: UtcDay;
  readonly limits: KeyLimits;
}

export interface ApiKey {
  readonly id: string;
  readonly organizationId: string;
  readonly last4: string;
  readonly settings: KeySettings;
  readonly createdAt: UnixMs;
  readonly revokedAt?: UnixMs;
  /** After a rotation, the secret of before. It may have ended since. */
  readonly previousSecret?: PreviousSecret;
  /** From this moment on it works no more; absent: by the settings' last day alone. */
  readonly expiresAt?: UnixMs;
  /** It ends with this session. */
  readonly sessionId?: string;
  /** Grows by one with each change. */
  readonly version: number;
}

export interface PreviousSecret {
  readonly last4: string;
  /** From this moment on it is no secret of the key any more. */
  readonly worksUntil: UnixMs;
}

/** Everything an edge needs to know of a key and its organization. */
export interface KeyGrant {
  readonly keyId: string;
  readonly organizationId: string;
  readonly revoked: boolean;
  readonly settings: Omit<KeySettings, 'name'>;
  readonly organizationLimits: OrganizationLimits;
  readonly organizationSuspended: boolean;
  /** From this moment on the key is expired. */
  readonly expiresAt?: UnixMs;
  /** When the secret that was asked about ends; absent: not before the key. */
  readonly secretEndsAt?: UnixMs;
}

/** An operator may do everything everywhere; a member what the roles in organizations allow. */
export type MemberRole = 'operator' | 'member';

export interface Member {
  readonly id: string;
  readonly email: string;
  readonly role: MemberRole;
}

/** An owner manages everything of an organization, an admin all but owners; a member reads. */
export type OrganizationRole = 'owner' | 'admin' | 'member';

/** A member's place in one organization. */
export interface Membership {
  readonly organization: Pick<Organization, 'id' | 'name' | 'suspended'>;
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

export type SignInMethod = 'password' | 'oidc';

export interface Session {
  readonly id: string;
  readonly member: Member;
  /** The browser and system that signed in, as they call themselves. */
  readonly device: string;
  /** Where it was last seen. */
  readonly ipAddress: string;
  readonly signedInBy: SignInMethod;
  readonly createdAt: UnixMs;
  /** To the minute. */
  readonly lastSeenAt: UnixMs;
  readonly expiresAt: UnixMs;
}

/** Whatever ends sessions also ends the keys that were made for them, in the same transaction. */
export interface EndedSessions {
  readonly ended: number;
  /** By which edges know that those keys ended; undefined: there were none. */
  readonly sequence: bigint | undefined;
}

/** Who makes a change, as the audit log shows it. */
export interface Actor {
  /** A member id, or "system". */
  readonly id: string;
  readonly label: string;
  readonly ipAddress: string;
}

/**
 * - `started`: another domain is about to make the change.
 * - `done`, `failed`: how it went.
 */
export type AuditOutcome = 'started' | 'done' | 'failed';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface AuditEntry {
  readonly id: string;
  readonly createdAt: UnixMs;
  readonly actor: Actor;
  readonly organizationId?: string;
  /** Such as "key.create". */
  readonly action: string;
  /** Such as a key id. */
  readonly target: string;
  /** What changed; never a secret. */
  readonly details: JsonObject;
  readonly outcome: AuditOutcome;
}

/** A session to be opened in the transaction of what brought it about. */
export interface NewSession {
  readonly tokenSha256: Buffer;
  readonly session: Session;
  readonly audit: AuditEntry;
}
