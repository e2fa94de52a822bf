import type { Budget, Clock, OrganizationRole, UnixMs } from '@gateway/base';
import type {
  ActorCheck,
  AdminRefusal,
  AuditEntry,
  Session,
  EdgeLeases,
  InvalidationFeed,
  IdSource,
  PageRequest,
  Decision,
  Secrets,
} from '@gateway/auth-shared';
import type { ApiKey, KeyGrant, KeyState, Organization, OrganizationLimits, Project } from './model';

/** A committed state. Edges that have acknowledged `sequence` cannot act on an older state. */
interface Committed<Value> {
  readonly kind: 'committed';
  readonly value: Value;
  readonly sequence: bigint;
}

/** Every write commits its audit entry, and its invalidation if edges cache the row, in the same transaction. */
export interface OrganizationStore {
  insert(organization: Organization, audit: AuditEntry): Promise<void>;
  find(id: string): Promise<Organization | undefined>;
  list(page: PageRequest, filter: OrganizationFilter): Promise<readonly Organization[]>;
  /**
   * Also lowers each limit of a key and each budget of a project that is above the new effective limit of the
   * organization, and adds them to the audit entry as `lowered_keys` and `lowered_projects`. Undefined: no such organization.
   */
  change(
    id: string,
    decide: (current: Organization) => Decision<Organization>,
  ): Promise<Committed<Organization> | AdminRefusal | undefined>;
}

/** Absent fields do not filter. */
export interface OrganizationFilter {
  /** Only the organizations of this member. */
  readonly memberId?: string;
  /** Only this one. */
  readonly organizationId?: string;
  readonly ids?: readonly string[];
  /** Part of the name or id, in any case. */
  readonly search?: string;
  readonly suspended?: boolean;
}

interface NewKey {
  readonly key: ApiKey;
  readonly sha256: Buffer;
}

export interface KeyStore {
  /**
   * `decide` receives the organization, its project with the given id, if it exists, and how many keys of the organization
   * are not revoked, without those of sessions. None changes until the key is written. Undefined: no such organization.
   */
  insert(
    organizationId: string,
    projectId: string | undefined,
    check: ActorCheck,
    decide: (organization: Organization, project: Project | undefined, keys: number) => Decision<NewKey>,
  ): Promise<ApiKey | AdminRefusal | undefined>;
  /**
   * As `insert`, for an active session, and revokes the session's other keys in
   * the organization. `decide` also receives the member's role there, if any. Undefined: no
   * such organization, or no such session of the member.
   */
  insertForSession(
    organizationId: string,
    session: { readonly id: string; readonly memberId: string },
    decide: (
      organization: Organization,
      session: Session,
      role: OrganizationRole | undefined,
    ) => Decision<NewKey>,
  ): Promise<Committed<ApiKey> | AdminRefusal | undefined>;
  find(organizationId: string, id: string): Promise<ApiKey | undefined>;
  list(organizationId: string, page: PageRequest, filter: KeyFilter, now: UnixMs): Promise<readonly ApiKey[]>;
  /** How many keys all pages of `list` have. */
  count(organizationId: string, filter: KeyFilter, now: UnixMs): Promise<number>;
  /** Keys of all organizations, newest first. By an index, however many keys there are. */
  findAnywhere(identity: KeyIdentity, limit: number): Promise<readonly FoundKey[]>;
  /** As `insert`, with the project of the id that `projectIdOf` returns. Undefined: no such key in this organization. */
  change(
    organizationId: string,
    id: string,
    projectIdOf: (current: ApiKey) => string | undefined,
    decide: (current: ApiKey, organization: Organization, project: Project | undefined) => Decision<ApiKey>,
  ): Promise<Committed<ApiKey> | AdminRefusal | undefined>;
  /** As `change`, and replaces the key's secret. */
  rotate(
    organizationId: string,
    id: string,
    decide: (current: ApiKey) => Decision<RotatedKey>,
  ): Promise<Committed<ApiKey> | AdminRefusal | undefined>;
}

/** What identifies a key, or a few keys. A rotated key is found by either of its secrets. */
export type KeyIdentity = { readonly id: string } | { readonly last4: string } | { readonly sha256: Buffer };

interface FoundKey {
  readonly key: ApiKey;
  readonly organizationName: string;
}

/** Absent fields do not filter. */
export interface KeyFilter {
  /** True: only session keys. False: only other keys. */
  readonly forSession?: boolean;
  readonly state?: KeyState;
  /** Part of the name, the id or the last four characters of a secret, in any case. */
  readonly search?: string;
  readonly ids?: readonly string[];
  readonly ownerId?: string;
  /** Only keys whose owner has left. */
  readonly ownerHasLeft?: true;
  readonly projectId?: string;
}

export interface ProjectStore {
  /** `decide` receives the organization, and how many of its projects are not archived. Undefined: no such organization. */
  insert(
    organizationId: string,
    decide: (organization: Organization, projects: number) => Decision<Project>,
  ): Promise<Project | AdminRefusal | undefined>;
  list(organizationId: string, page: PageRequest, filter: ProjectFilter): Promise<readonly Project[]>;
  /**
   * `decide` also receives how many keys of the project are not revoked. Lowers each budget of a key that is above the
   * project's new one, and adds those keys to the audit entry as `lowered_keys`. Undefined: no such project in this
   * organization.
   */
  change(
    organizationId: string,
    id: string,
    decide: (current: Project, organization: Organization, activeKeys: number) => Decision<Project>,
  ): Promise<Committed<Project> | AdminRefusal | undefined>;
}

/** Absent fields do not filter. */
interface ProjectFilter {
  readonly archived?: boolean;
  readonly ids?: readonly string[];
}

interface RotatedKey extends NewKey {
  /** Which of the earlier secrets becomes the key's previous secret. */
  readonly retained: 'current' | 'previous' | 'none';
}

/** The hot path: one indexed read of the committed state, never cached. */
export interface KeyVerifier {
  verify(sha256: Buffer): Promise<KeyGrant | undefined>;
}

/** The owner of budgets: an organization (with an empty id), a project or a key that is not revoked. */
interface BudgetOwner {
  readonly ownerId: string;
  readonly name: string;
  readonly budgets: readonly Budget[];
}

export interface BudgetReader {
  /** Owners with a budget, by id, after the given one. */
  listOwners(
    organizationId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly BudgetOwner[]>;
  /** The name of the organization, if it exists. */
  nameOf(organizationId: string): Promise<string | undefined>;
  /** The emails of people with one of the roles who are not disabled, in order. */
  listEmails(
    organizationId: string,
    roles: readonly OrganizationRole[],
    limit: number,
  ): Promise<readonly string[]>;
  /** The time zones of people by their email, of those who have one. */
  timeZonesOf(emails: readonly string[]): Promise<Readonly<Record<string, string>>>;
}

export interface AddressRanges {
  /** An address or CIDR range in canonical form; undefined when the text is neither. */
  canonical(text: string): string | undefined;
}

/** The injected dependencies of organizations, keys, revocation and the audit log. */
export interface AuthPorts {
  readonly organizations: OrganizationStore;
  readonly keys: KeyStore;
  readonly projects: ProjectStore;
  readonly keyVerifier: KeyVerifier;
  readonly budgets: BudgetReader;
  readonly secrets: Secrets;
  readonly addressRanges: AddressRanges;
  readonly leases: EdgeLeases;
  readonly feed: InvalidationFeed;
  readonly clock: Clock;
  readonly newId: IdSource;
  readonly settings: AuthSettings;
}

export interface AuthSettings {
  /** How long an edge may use its cache without contact to auth, and the longest wait of a revocation. */
  readonly leaseMs: number;
  /** A session without a request for this long ends, and its keys with it. */
  readonly sessionIdleMs: number;
  readonly defaultOrganizationLimits: OrganizationLimits;
}
