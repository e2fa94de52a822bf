import type { Clock, UnixMs } from '@gateway/base';
import type {
  AdminRefusal,
  AuditEntry,
  AuditOutcome,
  Session,
  EdgeLeases,
  InvalidationFeed,
  IdSource,
  PageRequest,
  Decision,
  Secrets,
} from '@gateway/auth-shared';
import type { ApiKey, KeyGrant, Organization, OrganizationLimits } from './model';

/**
 * A committed state. `sequence` is the last invalidation that an edge must have
 * acknowledged before it can be said to know this state.
 */
interface Committed<Value> {
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

interface NewKey {
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

interface RotatedKey extends NewKey {
  /** Which of the secrets of before is the key's previous one from now on. */
  readonly kept: 'current' | 'previous' | 'none';
}

/** The hot path: one indexed read of what is committed now, never cached. */
export interface KeyVerifier {
  verify(sha256: Buffer): Promise<KeyGrant | undefined>;
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

export interface AddressRanges {
  /** An address or CIDR range in canonical form; undefined when the text is neither. */
  canonical(text: string): string | undefined;
}

/** Everything that organizations, keys, revocation and the audit log need from outside. */
export interface AuthPorts {
  readonly organizations: OrganizationStore;
  readonly keys: KeyStore;
  readonly keyVerifier: KeyVerifier;
  readonly audit: AuditStore;
  readonly secrets: Secrets;
  readonly addressRanges: AddressRanges;
  readonly leases: EdgeLeases;
  readonly feed: InvalidationFeed;
  readonly clock: Clock;
  readonly newId: IdSource;
  readonly settings: AuthSettings;
}

export interface AuthSettings {
  /** How long an edge may use its cache without hearing from auth, and the longest wait of a revocation. */
  readonly leaseMs: number;
  /** A session without a request for this long has ended, and with it its keys. */
  readonly sessionIdleMs: number;
  readonly defaultOrganizationLimits: OrganizationLimits;
}
