import type { Clock, UnixMs } from '@gateway/base';
import type {
  AdminRefusal,
  AuditEntry,
  Decision,
  EdgeLeases,
  EndedSessions,
  IdSource,
  InvalidationFeed,
  Member,
  MemberRole,
  PageRequest,
  Secrets,
  Session,
} from '@gateway/auth-shared';
import type { DomainStore, IdentityProvider, IdentityStore, SignOnStore } from './single-sign-on/ports';
import type {
  Invitation,
  Membership,
  NewSession,
  OrganizationMember,
  OrganizationRole,
  Person,
} from './model';

export interface StoredMember extends Member {
  /** Absent: signs in by single sign-on only. */
  readonly passwordHash?: string;
  /** The second factor; it counts once it is confirmed. */
  readonly totp?: { readonly encryptedSecret: string; readonly confirmed: boolean };
}

export interface MemberStore {
  /** False, and nothing is written, when the email exists. */
  insert(member: StoredMember, createdAt: UnixMs, audit: AuditEntry): Promise<boolean>;
  find(id: string): Promise<StoredMember | undefined>;
  findByEmail(email: string): Promise<StoredMember | undefined>;
  list(page: PageRequest): Promise<readonly Person[]>;
  /** Also ends all the member's sessions and reset links, and opens the one that is named, if any. */
  setPassword(memberId: string, passwordHash: string, audit: AuditEntry, opened?: NewSession): Promise<void>;
  /** Also ends all the member's sessions. */
  setRole(memberId: string, role: MemberRole, audit: AuditEntry): Promise<void>;
}

export interface InvitationStore {
  /** Revokes the open ones of the same email. `taken`, and nothing is written: the person is a member already. */
  insert(invitation: Invitation, tokenSha256: Buffer, audit: AuditEntry): Promise<'inserted' | 'taken'>;
  list(organizationId: string, page: PageRequest): Promise<readonly Invitation[]>;
  find(organizationId: string, id: string): Promise<Invitation | undefined>;
  /** With the name of its organization. */
  findByToken(
    tokenSha256: Buffer,
  ): Promise<{ readonly invitation: Invitation; readonly organizationName: string } | undefined>;
  /** False, and nothing is written, when it was accepted or revoked before. */
  revoke(id: string, at: UnixMs, audit: AuditEntry): Promise<boolean>;
  /**
   * Uses it up and makes the membership, with the member when they are new and
   * with their session, all or nothing. False, and nothing is written: it was
   * used or revoked in between, or somebody took the email.
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

/** Links by which passwords are chosen anew. */
export interface PasswordResetStore {
  insert(tokenSha256: Buffer, memberId: string, expiresAt: UnixMs, audit: AuditEntry): Promise<void>;
  /** Undefined when there is none. */
  find(
    tokenSha256: Buffer,
  ): Promise<{ readonly member: StoredMember; readonly expiresAt: UnixMs } | undefined>;
  /** Sets the password and ends all links and sessions of the member. False: the link was used in between. */
  complete(tokenSha256: Buffer, memberId: string, passwordHash: string, audit: AuditEntry): Promise<boolean>;
}

export interface SecondFactorStore {
  /** Replaces a secret that was not confirmed. False: there is a confirmed one. */
  enrol(memberId: string, encryptedSecret: string, audit: AuditEntry): Promise<boolean>;
  /** Turns it on with these recovery codes; ends all sessions but the one that it opens. */
  confirm(
    memberId: string,
    recoveryCodes: readonly Buffer[],
    at: UnixMs,
    audit: AuditEntry,
    opened: NewSession,
  ): Promise<void>;
  /** Takes the code of a period. False: one of this period or of a later one was taken before. */
  takeStep(memberId: string, step: number): Promise<boolean>;
  /** Uses a recovery code up. False: there is none such. */
  takeRecoveryCode(memberId: string, codeSha256: Buffer): Promise<boolean>;
  replaceRecoveryCodes(memberId: string, recoveryCodes: readonly Buffer[], audit: AuditEntry): Promise<void>;
  remove(memberId: string, audit: AuditEntry): Promise<void>;
}

/** Codes of authenticator apps: RFC 6238 with SHA-1, six digits, thirty seconds. */
export interface Totp {
  /** As base32. */
  generateSecret(): string;
  /** What an app reads from a QR code. */
  uri(secret: string, account: string): string;
  /** The period that the code is of, or undefined when it is of none near now. */
  stepOf(secret: string, code: string, now: UnixMs): number | undefined;
}

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Rejects when the mail was not taken; it bounds its own time. */
  send(mail: Mail): Promise<void>;
}

export interface MembershipStore {
  /** Whether there is such an organization, and what the member is in it, if anything. */
  find(
    organizationId: string,
    memberId: string,
  ): Promise<{ readonly exists: boolean; readonly role?: OrganizationRole }>;
  listOf(memberId: string): Promise<readonly Membership[]>;
  listIn(organizationId: string, page: PageRequest): Promise<readonly OrganizationMember[]>;
  /** `owners` are counted while nobody else changes the organization's. Undefined: not a member of it. */
  change(
    organizationId: string,
    memberId: string,
    decide: (current: OrganizationMember, owners: number) => Decision<OrganizationMember>,
  ): Promise<OrganizationMember | AdminRefusal | undefined>;
  /** As `change`, and what is decided as a change is the removal. */
  remove(
    organizationId: string,
    memberId: string,
    decide: (current: OrganizationMember, owners: number) => Decision<OrganizationMember>,
  ): Promise<OrganizationMember | AdminRefusal | undefined>;
}

export interface SessionStore {
  insert(tokenSha256: Buffer, session: Session, audit: AuditEntry): Promise<void>;
  /** Also finds expired ones. */
  find(tokenSha256: Buffer): Promise<Session | undefined>;
  /** Also finds expired ones. */
  list(memberId: string, page: PageRequest): Promise<readonly Session[]>;
  /** Notes when and where it was seen, of the session and of its member. */
  noteSeen(session: Session): Promise<void>;
  /** Idempotent; `audit` is written only when there was a session. */
  delete(tokenSha256: Buffer, audit: (session: Session) => AuditEntry): Promise<EndedSessions>;
  /** Nothing is written when the member has no such session. */
  deleteOwn(memberId: string, id: string, audit: AuditEntry): Promise<EndedSessions>;
  /** `audit` is written only when there were any. */
  deleteOthers(
    memberId: string,
    keptId: string,
    audit: (ended: number) => AuditEntry,
  ): Promise<EndedSessions>;
}

export interface AttemptCount {
  readonly attempts: number;
  readonly windowEndsAt: UnixMs;
}

/** Counts sign-in attempts in fixed windows that begin with the first attempt. */
export interface AttemptCounter {
  /** Counts one more, atomically, in each bucket, and answers them in order. */
  add(buckets: readonly string[], now: UnixMs, windowMs: number): Promise<readonly AttemptCount[]>;
  /** Forgets a bucket, after the right password. */
  clear(bucket: string): Promise<void>;
}

export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** Takes as long for an undefined hash as for a real one, and then answers false. */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** A short name of a stored hash, from which neither it nor the password can be found. */
  versionOf(hash: string): string;
}

/** For secrets that have to be read again, which a hash would not allow. */
export interface SecretCipher {
  /** Of what is sealed with the current key. */
  readonly currentPrefix: string;
  /** As text that says nothing to who has no key. It opens with the same context alone. */
  seal(secret: string, context: string): string;
  /** Also what was stored plain, before there were keys. Throws when it was changed, or its key is not there. */
  open(sealed: string, context: string): string;
}

interface PeopleLog {
  warn(fields: object, message: string): void;
}

export interface AddressRanges {
  /** The network that sign-in attempts are counted under: all of an IPv6 site counts as one. */
  countedAs(address: string): string;
}

export interface PeopleSettings {
  /** A dashboard session ends this long after sign-in, even when it is in use. */
  readonly sessionLifetimeMs: number;
  /** A session without a request for this long ends earlier. */
  readonly sessionIdleMs: number;
}

/** The organizations of the library `auth`, as far as invitations and domains need them. */
interface OrganizationLookup {
  find(id: string): Promise<{ readonly name: string } | undefined>;
}

/** Everything that members, sign-in and permissions need from outside. */
export interface PeoplePorts {
  readonly organizations: OrganizationLookup;
  readonly members: MemberStore;
  readonly memberships: MembershipStore;
  readonly invitations: InvitationStore;
  readonly passwordResets: PasswordResetStore;
  readonly secondFactors: SecondFactorStore;
  readonly totp: Totp;
  readonly identities: IdentityStore;
  readonly domains: DomainStore;
  readonly signOns: SignOnStore;
  /** Absent: no single sign-on is configured. */
  readonly identityProvider?: IdentityProvider;
  /** Absent: no email is configured. */
  readonly mailer?: Mailer;
  /** For failures of work that no caller waits for. */
  readonly log: PeopleLog;
  readonly sessions: SessionStore;
  readonly attempts: AttemptCounter;
  readonly passwords: PasswordHasher;
  readonly secrets: Secrets;
  /** Absent: no secrets key is configured, so no second factor can be enrolled. */
  readonly cipher?: SecretCipher;
  readonly addressRanges: AddressRanges;
  readonly leases: EdgeLeases;
  readonly feed: InvalidationFeed;
  readonly clock: Clock;
  readonly newId: IdSource;
  readonly settings: PeopleSettings;
}
