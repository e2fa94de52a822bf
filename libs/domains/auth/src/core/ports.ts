import type { Clock, UnixMs } from '@gateway/base';
import type { AdminRefusal } from './admin-refusal';
import type {
  ApiKey,
  AuditEntry,
  AuditOutcome,
  KeyGrant,
  Member,
  MemberRole,
  EndedSessions,
  Invitation,
  Membership,
  NewSession,
  Organization,
  OrganizationLimits,
  OrganizationMember,
  OrganizationRole,
  Person,
  Session,
} from './model';
import type { EdgeLeases, InvalidationFeed } from './invalidation/ports';
import type { DomainStore, IdentityProvider, IdentityStore, SignOnStore } from './single-sign-on/ports';

/** Makes ids that sort by time, such as `key-01JD…`. */
export type IdSource = (prefix: string) => string;

/** One page of a list, newest first. */
export interface PageRequest {
  readonly size: number;
  /** The last id of the page before. */
  readonly after?: string;
}

/** What a rule makes of the current state, decided while the row is locked. Pure: it may be asked again. */
export type Decision<Value> =
  | { readonly kind: 'change'; readonly value: Value; readonly audit: AuditEntry }
  | { readonly kind: 'keep'; readonly value: Value }
  | AdminRefusal;

/**
 * A committed state. `sequence` is the last invalidation that an edge must have
 * acknowledged before it can be said to know this state.
 */
export interface Committed<Value> {
  readonly kind: 'committed';
  readonly value: Value;
  readonly sequence: bigint;
}

/** Every write commits its audit entry, and the invalidation where edges are concerned, in the same transaction. */
export interface OrganizationStore {
  insert(organization: Organization, audit: AuditEntry): Promise<void>;
  find(id: string): Promise<Organization | undefined>;
  /** Of one member, when one is named. */
  list(page: PageRequest, memberId?: string): Promise<readonly Organization[]>;
  /** Undefined: no such organization. */
  change(
    id: string,
    decide: (current: Organization) => Decision<Organization>,
  ): Promise<Committed<Organization> | AdminRefusal | undefined>;
}

export interface NewKey {
  readonly key: ApiKey;
  readonly sha256: Buffer;
}

export interface KeyStore {
  /** `decide` sees the organization as it stays until the key is written. Undefined: no such organization. */
  insert(
    organizationId: string,
    decide: (organization: Organization) => Decision<NewKey>,
  ): Promise<ApiKey | AdminRefusal | undefined>;
  /**
   * As `insert`, for a session that runs, and ends the keys that this session
   * has in the organization. Undefined: no such organization, or no such session of the member.
   */
  insertForSession(
    organizationId: string,
    session: { readonly id: string; readonly memberId: string },
    decide: (organization: Organization, session: Session) => Decision<NewKey>,
  ): Promise<Committed<ApiKey> | AdminRefusal | undefined>;
  find(organizationId: string, id: string): Promise<ApiKey | undefined>;
  /** @param forSession only those that were made for a session, or only the others; undefined: all. */
  list(organizationId: string, page: PageRequest, forSession?: boolean): Promise<readonly ApiKey[]>;
  /** Undefined: no such key in this organization. */
  change(
    organizationId: string,
    id: string,
    decide: (current: ApiKey, organization: Organization) => Decision<ApiKey>,
  ): Promise<Committed<ApiKey> | AdminRefusal | undefined>;
  /**
   * As `change`, and gives the key another secret.
   */
  rotate(
    organizationId: string,
    id: string,
    decide: (current: ApiKey) => Decision<RotatedKey>,
  ): Promise<Committed<ApiKey> | AdminRefusal | undefined>;
}

export interface RotatedKey extends NewKey {
  /** Which of the secrets of before is the key's previous one from now on. */
  readonly kept: 'current' | 'previous' | 'none';
}

/** The hot path: one indexed read of what is committed now, never cached. */
export interface KeyVerifier {
  verify(sha256: Buffer): Promise<KeyGrant | undefined>;
}

export interface StoredMember extends Member {
  /** Absent: signs in by single sign-on only. */
  readonly passwordHash?: string;
  /** The second factor; it counts once it is confirmed. */
  readonly totp?: { readonly sealedSecret: string; readonly confirmed: boolean };
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

export interface AcceptedInvitation {
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
  enrol(memberId: string, sealedSecret: string, audit: AuditEntry): Promise<boolean>;
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

export interface Mail {
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

/** What is absent is not filtered by. */
export interface AuditFilter {
  readonly organizationId?: string;
  /** Such as "key.create", or "key." for all that begins so. */
  readonly action?: string;
  readonly actorId?: string;
  readonly target?: string;
  /** From this moment on. */
  readonly since?: UnixMs;
  /** Before this moment. */
  readonly until?: UnixMs;
}

export interface AuditStore {
  insert(entry: AuditEntry): Promise<void>;
  /** Notes how a started change went. `not_started`: the entry is unknown or already complete otherwise. */
  complete(id: string, outcome: Exclude<AuditOutcome, 'started'>): Promise<'completed' | 'not_started'>;
  list(filter: AuditFilter, page: PageRequest): Promise<readonly AuditEntry[]>;
}

export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** Takes as long for an undefined hash as for a real one, and then answers false. */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** A short name of a stored hash, from which neither it nor the password can be found. */
  versionOf(hash: string): string;
}

export interface Secrets {
  /** At least 256 random bits as URL-safe text. */
  random(): string;
  /** A recovery code: at least 80 random bits, to be typed. */
  randomCode(): string;
  sha256(text: string): Buffer;
}

/** For secrets that have to be read again, which a hash would not allow. */
export interface SecretSealer {
  /** Of what is sealed with the current key. */
  readonly currentPrefix: string;
  /** As text that says nothing to who has no key. It opens with the same context alone. */
  seal(secret: string, context: string): string;
  /** Also what was stored plain, before there were keys. Throws when it was changed, or its key is not there. */
  open(sealed: string, context: string): string;
}

export interface AddressRanges {
  /** An address or CIDR range in canonical form; undefined when the text is neither. */
  canonical(text: string): string | undefined;
  /** What sign-in attempts from an address are counted under: an IPv6 site counts as one. */
  countedAs(address: string): string;
}

/** Everything the domain needs from outside. */
export interface AuthPorts {
  readonly organizations: OrganizationStore;
  readonly keys: KeyStore;
  readonly keyVerifier: KeyVerifier;
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
  /** Absent: no mail is configured. */
  readonly mailer?: Mailer;
  /** For what goes wrong where nobody waits for it. */
  readonly log: AuthLog;
  readonly sessions: SessionStore;
  readonly attempts: AttemptCounter;
  readonly audit: AuditStore;
  readonly passwords: PasswordHasher;
  readonly secrets: Secrets;
  /** Absent: no key is configured, and nobody can begin with a second factor. */
  readonly sealer?: SecretSealer;
  readonly addressRanges: AddressRanges;
  readonly leases: EdgeLeases;
  readonly feed: InvalidationFeed;
  readonly clock: Clock;
  readonly newId: IdSource;
  readonly settings: AuthSettings;
}

export interface AuthLog {
  warn(fields: object, message: string): void;
}

export interface AuthSettings {
  /** How long an edge may use what it remembers without hearing from auth, and the most that a revocation waits. */
  readonly leaseMs: number;
  /** A dashboard session ends this long after sign-in, whatever happens in it. */
  readonly sessionLifetimeMs: number;
  /** It ends earlier when nothing was asked in it for so long. */
  readonly sessionIdleMs: number;
  readonly defaultOrganizationLimits: OrganizationLimits;
}
