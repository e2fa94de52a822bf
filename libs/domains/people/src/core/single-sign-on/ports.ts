import type { UnixMs } from '@gateway/base';
import type { Identity, NewSession, OrganizationDomain, StoredMember } from '../model';
import type { AuditEntry, EndedSessions, ActorCheck } from '@gateway/auth-shared';

/** A sign-in in progress at the identity provider. */
export interface SignOn {
  readonly browserSha256: Buffer;
  /** The redirect URI of the OAuth request. */
  readonly redirectUri: string;
  /** A path of the dashboard. */
  readonly returnTo: string;
  readonly replacedTokenSha256?: Buffer;
  readonly expiresAt: UnixMs;
}

export interface SignOnStore {
  insert(stateSha256: Buffer, signOn: SignOn): Promise<void>;
  /** Deletes and returns it, so that only one of several concurrent calls gets it. Undefined: not found. */
  consume(stateSha256: Buffer, browserSha256: Buffer): Promise<SignOn | undefined>;
}

/** A first sign-in at an identity provider, with its changes, written in one transaction. */
export interface LinkedMember {
  readonly issuer: string;
  readonly subject: string;
  /** As checked before, or to be created. */
  readonly member: StoredMember;
  readonly isNew: boolean;
  /** Absent: the member already belongs to the organization. */
  readonly membership?: Pick<OrganizationDomain, 'organizationId' | 'role'>;
  readonly at: UnixMs;
  readonly audits: readonly AuditEntry[];
  readonly opened: NewSession;
}

/** The removal of a member's identity. */
interface UnlinkedMember {
  readonly memberId: string;
  readonly issuer: string;
  readonly keptSessionId?: string;
  readonly audit: AuditEntry;
}

/** The identities of members at identity providers. */
export interface IdentityStore {
  find(issuer: string, subject: string): Promise<StoredMember | undefined>;
  /** The subject of the member's identity at this provider. Undefined: they have none there. */
  subjectOf(memberId: string, issuer: string): Promise<string | undefined>;
  /**
   * Returns false and writes nothing if the identity, email or membership was created meanwhile, or if the password, the
   * second factor or the account of an existing member has changed.
   */
  link(linked: LinkedMember): Promise<boolean>;
  /** Ordered by issuer. */
  list(memberId: string): Promise<readonly Identity[]>;
  /**
   * Also ends the member's sessions that were opened by single sign-on, except
   * `keptSessionId`. Returns undefined and writes nothing if not linked.
   */
  unlink(unlinked: UnlinkedMember): Promise<EndedSessions | undefined>;
}

export interface DomainStore {
  find(domain: string): Promise<OrganizationDomain | undefined>;
  /** Ordered by name. */
  list(organizationId: string): Promise<readonly OrganizationDomain[]>;
  /**
   * `mapped_elsewhere`: another organization has the domain. `too_many`: the
   * organization has `max` domains. Unless it is mapped, nothing is written.
   */
  map(
    mapped: OrganizationDomain,
    check: ActorCheck,
    max: number,
    audit: (before: OrganizationDomain | undefined) => AuditEntry,
  ): Promise<'mapped' | 'mapped_elsewhere' | 'too_many' | 'forbidden'>;
  /** `not_found`: the organization has no such domain. Unless it is unmapped, nothing is written. */
  unmap(
    organizationId: string,
    domain: string,
    check: ActorCheck,
    audit: (before: OrganizationDomain) => AuditEntry,
  ): Promise<'unmapped' | 'not_found' | 'forbidden'>;
}

/** The values that the callback of a sign-in is verified against. */
interface SignOnSecrets {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** `detail` is for logs and contains no code, token or email. */
export type IdentityResult =
  | {
      readonly kind: 'identified';
      readonly issuer: string;
      readonly subject: string;
      readonly email?: string;
      readonly name?: string;
      readonly emailVerified: boolean;
    }
  | { readonly kind: 'denied' | 'failed' | 'unavailable'; readonly detail: string };

/**
 * An OpenID Connect provider, with the authorization code flow and PKCE. It has
 * its own timeouts and never rejects because of the provider.
 */
export interface IdentityProvider {
  /** The label of the sign-in button. */
  readonly label: string;
  start(
    secrets: SignOnSecrets,
  ): Promise<
    | { readonly kind: 'started'; readonly authorizationUrl: string }
    | { readonly kind: 'unavailable'; readonly detail: string }
  >;
  /**
   * Exchanges the authorization code for the person's claims, and verifies state,
   * issuer, signature, audience, times and nonce. No token is stored.
   */
  finish(secrets: SignOnSecrets & { readonly callbackQuery: string }): Promise<IdentityResult>;
}

/** The provider and our client registration. */
export interface OidcSettings {
  /** The issuer URL, such as "https://login.example.com". Plain http:// is allowed on loopback addresses only. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The label of the button on the sign-in page. */
  readonly label: string;
}
