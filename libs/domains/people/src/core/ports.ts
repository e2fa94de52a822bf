import type { Clock, Mailer, SecretCipher, UnixMs } from '@gateway/base';
import type {
  AdminRefusal,
  AuditEntry,
  Decision,
  EdgeLeases,
  EndedSessions,
  IdSource,
  InvalidationFeed,
  PageRequest,
  Secrets,
  Session,
  ActorCheck,
  ActorRoles,
} from '@gateway/auth-shared';
import type { ManagementToken } from './management-tokens/management-token';
import type { DomainStore, IdentityProvider, IdentityStore, SignOnStore } from './single-sign-on/ports';
import type {
  Invitation,
  Membership,
  NewSession,
  OrganizationMember,
  OrganizationRole,
  Person,
  StoredMember,
} from './model';

export type { StoredMember };

export interface MemberStore {
  /** Returns false and writes nothing if the email exists. */
  insert(member: StoredMember, createdAt: UnixMs, audit: AuditEntry): Promise<boolean>;
  find(id: string): Promise<StoredMember | undefined>;
  findByEmail(email: string): Promise<StoredMember | undefined>;
  /** @param search part of the email, name or id, in any case; undefined: all. */
  list(page: PageRequest, search?: string): Promise<readonly Person[]>;
  /** How many people all pages of `list` have. */
  count(search?: string): Promise<number>;
  /**
   * Also ends all the member's sessions and reset links, and inserts the session `opened`, if any. Undefined, and
   * nothing is written, if the member has changed since they were `checked`, or the session `sessionId` has ended.
   */
  setPassword(
    memberId: string,
    passwordHash: string,
    audit: AuditEntry,
    changed?: { readonly checked: StoredMember; readonly sessionId: string; readonly opened: NewSession },
  ): Promise<EndedSessions | undefined>;
  /** Absent fields keep their value. */
  changeProfile(memberId: string, changes: ProfileChanges, audit: AuditEntry): Promise<void>;
  /**
   * Decides under a lock of the member and of the actor, so that two operators cannot change each other concurrently.
   * Writes the role, and whether the member is disabled. A change ends all the member's sessions, and reset links of a
   * disabled member. Undefined: no such member.
   */
  change(
    memberId: string,
    actorId: string,
    decide: (current: StoredMember, actor: StoredMember | undefined) => Decision<StoredMember>,
  ): Promise<ChangedMember | AdminRefusal | undefined>;
}

export interface ProfileChanges {
  readonly name?: string;
  readonly timeZone?: string;
}

export interface ChangedMember extends EndedSessions {
  readonly member: StoredMember;
  /** False: the member was already as wanted, and nothing was written. */
  readonly changed: boolean;
}

export interface InvitationStore {
  /**
   * Also revokes open invitations of the same email. `too_many`: the organization has `max` others that can be accepted.
   * Unless it is inserted, nothing is written.
   */
  insert(
    invitation: Invitation,
    tokenSha256: Buffer,
    check: ActorCheck,
    max: number,
    audit: AuditEntry,
  ): Promise<'inserted' | 'already_member' | 'too_many' | 'forbidden'>;
  list(organizationId: string, page: PageRequest, which: 'open' | 'all'): Promise<readonly Invitation[]>;
  find(organizationId: string, id: string): Promise<Invitation | undefined>;
  findByToken(
    tokenSha256: Buffer,
  ): Promise<{ readonly invitation: Invitation; readonly organizationName: string } | undefined>;
  /** Returns false and writes nothing if it is already accepted or revoked. */
  revoke(id: string, at: UnixMs, audit: AuditEntry): Promise<boolean>;
  /**
   * Accepts the invitation and creates the membership, and for a new member the
   * account and session, in one transaction. Returns false and writes nothing if
   * it was accepted or revoked meanwhile, or the email was registered.
   */
  accept(accepted: AcceptedInvitation): Promise<boolean>;
}

interface AcceptedInvitation {
  readonly invitation: Invitation;
  readonly memberId: string;
  /** Absent: the member exists. */
  readonly newMember?: StoredMember;
  readonly at: UnixMs;
  readonly audits: readonly AuditEntry[];
  readonly opened?: NewSession;
}

/** Password reset links. */
export interface PasswordResetStore {
  insert(tokenSha256: Buffer, memberId: string, expiresAt: UnixMs, audit: AuditEntry): Promise<void>;
  find(
    tokenSha256: Buffer,
  ): Promise<{ readonly member: StoredMember; readonly expiresAt: UnixMs } | undefined>;
  /** Sets the password and ends all links and sessions of the member. Undefined: the link was used meanwhile. */
  complete(
    tokenSha256: Buffer,
    memberId: string,
    passwordHash: string,
    audit: AuditEntry,
  ): Promise<EndedSessions | undefined>;
}

export interface SecondFactorStore {
  /** Stores or replaces an unconfirmed secret. False: there is a confirmed one. */
  enrol(memberId: string, encryptedSecret: string, audit: AuditEntry): Promise<boolean>;
  /**
   * Activates the second factor with these recovery codes. Ends all sessions except `opened`. Undefined, and nothing is
   * written, if the secret, the password or the account has changed since it was `checked`, or the session has ended.
   */
  confirm(
    checked: StoredMember,
    sessionId: string,
    recoveryCodes: readonly Buffer[],
    at: UnixMs,
    audit: AuditEntry,
    opened: NewSession,
  ): Promise<EndedSessions | undefined>;
  /** Marks the code of a period as used. False: a code of this or a later period was used before. */
  consumeStep(memberId: string, step: number): Promise<boolean>;
  /** Deletes a recovery code. False: there is no such code. */
  consumeRecoveryCode(memberId: string, codeSha256: Buffer): Promise<boolean>;
  replaceRecoveryCodes(memberId: string, recoveryCodes: readonly Buffer[], audit: AuditEntry): Promise<void>;
  remove(memberId: string, audit: AuditEntry): Promise<void>;
  /** As `remove`, and ends all the member's sessions. */
  reset(memberId: string, audit: AuditEntry): Promise<EndedSessions>;
}

/** Codes of authenticator apps: RFC 6238 with SHA-1, six digits and a period of 30 s. */
export interface Totp {
  /** As base32. */
  generateSecret(): string;
  /** The URI to show as a QR code. */
  uri(secret: string, account: string): string;
  /** The period of the code; undefined if it matches no period near `now`. */
  stepOf(secret: string, code: string, now: UnixMs): number | undefined;
}

export interface MembershipStore {
  /** Whether the organization exists, and the member's role in it, if any. */
  find(
    organizationId: string,
    memberId: string,
  ): Promise<{ readonly exists: boolean; readonly role?: OrganizationRole }>;
  listOf(memberId: string): Promise<readonly Membership[]>;
  /** Whether any organization of the member requires a second factor. */
  requireSecondFactor(memberId: string): Promise<boolean>;
  /** @param search part of the email, name or id, in any case; undefined: all. */
  listIn(organizationId: string, page: PageRequest, search?: string): Promise<readonly OrganizationMember[]>;
  /** How many members all pages of `listIn` have. */
  countIn(organizationId: string, search?: string): Promise<number>;
  /** Decides under the organization's lock, and a lock of the actor's account. Undefined: not a member of it. */
  change(
    membership: MembershipOf,
    decide: (current: OrganizationMember, locked: LockedRoles) => Decision<OrganizationMember>,
  ): Promise<ChangedMembership | AdminRefusal | undefined>;
  /** As `change`, but a decision to change removes the membership. */
  remove(
    membership: MembershipOf,
    decide: (current: OrganizationMember, locked: LockedRoles) => Decision<OrganizationMember>,
  ): Promise<ChangedMembership | AdminRefusal | undefined>;
}

export interface MembershipOf {
  readonly organizationId: string;
  readonly memberId: string;
  readonly actorId: string;
}

/** What no concurrent change can alter until the decision is written. */
export interface LockedRoles {
  readonly owners: number;
  readonly actor: ActorRoles | undefined;
}

export interface ChangedMembership {
  readonly member: OrganizationMember;
  /** The invalidation of the member's session keys in the organization; undefined when there were none. */
  readonly sequence: bigint | undefined;
}

export interface ManagementTokenStore {
  /** Returns the token with its creator. `too_many`: the creator has `max` others that are neither expired nor revoked. */
  insert(
    sha256: Buffer,
    token: NewManagementToken,
    check: ActorCheck,
    max: number,
    audit: AuditEntry,
  ): Promise<ManagementToken | 'too_many' | 'forbidden'>;
  /** Includes expired and revoked tokens. */
  find(id: string): Promise<ManagementToken | undefined>;
  /** As `find`, by the hash of the full token. */
  findBySecret(sha256: Buffer): Promise<ManagementToken | undefined>;
  /** The tokens of the organization, or of the platform. Includes expired and revoked ones. */
  list(organizationId: string | undefined, page: PageRequest): Promise<readonly ManagementToken[]>;
  /** Returns the revoked token. `audit` is written only if it was not revoked before. */
  revoke(id: string, at: UnixMs, audit: AuditEntry): Promise<ManagementToken>;
  recordUse(id: string, at: UnixMs): Promise<void>;
}

type NewManagementToken = Omit<ManagementToken, 'creator' | 'revokedAt' | 'lastUsedAt'> & {
  readonly creatorId: string;
};

/** A session, and whether its member has a second factor. */
export interface StoredSession extends Session {
  readonly secondFactor: boolean;
}

export interface SessionStore {
  /**
   * False, and nothing is written, if the member was disabled, or has another password or second factor than
   * `checked`: such a change has ended the sessions that existed then.
   */
  insert(opened: NewSession, checked: StoredMember): Promise<boolean>;
  /** Includes expired sessions. Undefined for a disabled member. */
  find(tokenSha256: Buffer): Promise<StoredSession | undefined>;
  /** The same by its id, for a session of this member. */
  findOwn(memberId: string, id: string): Promise<StoredSession | undefined>;
  /** Includes expired sessions. */
  list(memberId: string, page: PageRequest): Promise<readonly Session[]>;
  /** When the person last entered a password or code in this session of theirs; undefined without the session. */
  findConfirmation(id: string, memberId: string): Promise<UnixMs | undefined>;
  /** Stores when the person entered a password or code. */
  recordConfirmation(id: string, at: UnixMs): Promise<void>;
  /** Stores when and from which address the session and its member were last seen. */
  recordActivity(session: Session): Promise<void>;
  /** Idempotent; `audit` is written only if there was a session. */
  delete(tokenSha256: Buffer, audit: (session: Session) => AuditEntry): Promise<EndedSessions>;
  /** All sessions of the member. `audit` is written only if there were any. */
  deleteAll(memberId: string, audit: (ended: number) => AuditEntry): Promise<EndedSessions>;
  /** Writes nothing if the member has no such session. */
  deleteOwn(memberId: string, id: string, audit: AuditEntry): Promise<EndedSessions>;
  /** `audit` is written only if there were any. */
  deleteOthers(
    memberId: string,
    keptId: string,
    audit: (ended: number) => AuditEntry,
  ): Promise<EndedSessions>;
}

interface AttemptCount {
  readonly attempts: number;
  readonly windowEndsAt: UnixMs;
}

/** Counts attempts, and emails, in fixed windows that start with the first one. */
export interface AttemptCounter {
  /** Adds `by` to each bucket atomically, and returns the counts in order. */
  add(
    buckets: readonly string[],
    by: number,
    now: UnixMs,
    windowMs: number,
  ): Promise<readonly AttemptCount[]>;
  /** Deletes a bucket, after a correct password. */
  clear(bucket: string): Promise<void>;
}

export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** For an undefined hash, returns false after the same time as for a stored one. */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** Identifies a stored hash without revealing the hash or the password. */
  versionOf(hash: string): string;
}

export interface PasswordStrength {
  /**
   * Estimates the guesses of an attacker who knows leaked passwords, common patterns, and the person's words. The work
   * grows with the square of the length and blocks the process, so the caller bounds it.
   */
  estimate(
    password: string,
    personalWords: readonly string[],
  ): Promise<{ readonly guesses: number; readonly leaked: boolean }>;
}

interface PeopleLog {
  warn(fields: object, message: string): void;
}

export interface AddressRanges {
  /** The network by which attempts are throttled: an IPv4 address, or the /64 of an IPv6 address. */
  networkOf(address: string): string;
}

export interface PeopleSettings {
  /** A dashboard session ends this long after sign-in, even when it is in use. */
  readonly sessionLifetimeMs: number;
  /** A session without a request for this long ends earlier. */
  readonly sessionIdleMs: number;
  /** The dashboard's origin, to which links in emails point, whatever a request says. Absent: that of the request. */
  readonly dashboardOrigin?: string | undefined;
  /** Operators without a second factor have no access until they set one up. */
  readonly operatorsNeedSecondFactor: boolean;
  /** An email address or an https:// URL; undefined: unknown. */
  readonly operatorContact?: string | undefined;
}

/** Work after the response. */
export interface BackgroundWork {
  /** Starts the work and logs its failure. False: too much work is unfinished, so it was not started. */
  start(what: string, work: () => Promise<void>): boolean;
}

/** Lookup of organizations, which the library `auth` owns. */
interface OrganizationLookup {
  find(id: string): Promise<{ readonly name: string } | undefined>;
}

/** The injected dependencies of members, sign-in and permissions. */
export interface PeoplePorts {
  readonly organizations: OrganizationLookup;
  readonly members: MemberStore;
  readonly memberships: MembershipStore;
  readonly managementTokens: ManagementTokenStore;
  readonly invitations: InvitationStore;
  readonly passwordResets: PasswordResetStore;
  readonly secondFactors: SecondFactorStore;
  readonly totp: Totp;
  readonly identities: IdentityStore;
  readonly domains: DomainStore;
  readonly signOns: SignOnStore;
  /** Absent: single sign-on is not configured. */
  readonly identityProvider?: IdentityProvider;
  /** Absent: email delivery is not configured. */
  readonly mailer?: Mailer;
  /** For entries that belong to no change, such as refused sign-ins. */
  readonly auditLog: { insert(entry: AuditEntry): Promise<void> };
  readonly background: BackgroundWork;
  readonly log: PeopleLog;
  readonly sessions: SessionStore;
  readonly attempts: AttemptCounter;
  readonly passwords: PasswordHasher;
  readonly passwordStrength: PasswordStrength;
  readonly secrets: Secrets;
  /** Absent: no encryption key is configured, so no second factor can be enrolled. */
  readonly cipher?: SecretCipher;
  readonly addressRanges: AddressRanges;
  readonly leases: EdgeLeases;
  readonly feed: InvalidationFeed;
  readonly clock: Clock;
  readonly newId: IdSource;
  readonly settings: PeopleSettings;
}
