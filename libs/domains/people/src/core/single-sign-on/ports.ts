import type { UnixMs } from '@gateway/base';
import type { Identity, NewSession, OrganizationDomain } from '../model';
import type { AuditEntry, EndedSessions, Member } from '@gateway/auth-shared';

/** What the single sign-on needs from outside. */

/** A sign-in at the identity provider that has been begun and has not come back. */
export interface SignOn {
  readonly browserSha256: Buffer;
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  /** A path of the dashboard. */
  readonly returnTo: string;
  readonly replacedTokenSha256?: Buffer;
  readonly expiresAt: UnixMs;
}

export interface SignOnStore {
  insert(stateSha256: Buffer, signOn: SignOn): Promise<void>;
  /** Removes it, so that of any number of tries at once one gets it. Undefined: there is none of this browser. */
  take(stateSha256: Buffer, browserSha256: Buffer): Promise<SignOn | undefined>;
}

/** A first sign-in at an identity provider, with what it brings about, all or nothing. */
export interface LinkedMember {
  readonly issuer: string;
  readonly subject: string;
  readonly memberId: string;
  /** Absent: the member exists. */
  readonly newMember?: Member;
  /** Absent: the member belongs there already. */
  readonly membership?: Pick<OrganizationDomain, 'organizationId' | 'role'>;
  readonly at: UnixMs;
  readonly audits: readonly AuditEntry[];
  readonly opened: NewSession;
}

/** A member who is nobody at an identity provider any more. */
interface UnlinkedMember {
  readonly memberId: string;
  readonly issuer: string;
  readonly keptSessionId?: string;
  readonly audit: AuditEntry;
}

/** Who members are at identity providers. */
export interface IdentityStore {
  find(issuer: string, subject: string): Promise<Member | undefined>;
  /** Whether the member is anybody at this provider. */
  isLinked(memberId: string, issuer: string): Promise<boolean>;
  /** False, and nothing is written, when the identity, the email or the membership was taken in between. */
  link(linked: LinkedMember): Promise<boolean>;
  /** By issuer. */
  list(memberId: string): Promise<readonly Identity[]>;
  /**
   * Also ends the member's sessions that were opened by single sign-on, but for
   * the one that is kept. Undefined, and nothing is written: not linked.
   */
  unlink(unlinked: UnlinkedMember): Promise<EndedSessions | undefined>;
}

export interface DomainStore {
  find(domain: string): Promise<OrganizationDomain | undefined>;
  /** By name. */
  list(organizationId: string): Promise<readonly OrganizationDomain[]>;
  /** `taken`: by another organization; nothing is written then, nor when it would have more than `max`. */
  map(
    mapped: OrganizationDomain,
    max: number,
    audit: (before: OrganizationDomain | undefined) => AuditEntry,
  ): Promise<'mapped' | 'taken' | 'too_many'>;
  /** False, and nothing is written, when the organization has no such domain. */
  unmap(
    organizationId: string,
    domain: string,
    audit: (before: OrganizationDomain) => AuditEntry,
  ): Promise<boolean>;
}

/** What one sign-in is checked by when it comes back. */
interface SignOnSecrets {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** `detail` is for logs: it holds no code, token or email. */
export type SignOnAnswer =
  | {
      readonly kind: 'identified';
      readonly issuer: string;
      readonly subject: string;
      readonly email?: string;
      readonly emailVerified: boolean;
    }
  | { readonly kind: 'denied' | 'failed' | 'unavailable'; readonly detail: string };

/**
 * Who says who people are, by OpenID Connect: the authorization code flow with
 * PKCE. It bounds its own time, and rejects for nothing that the provider does.
 */
export interface IdentityProvider {
  /** What the button says. */
  readonly label: string;
  begin(
    secrets: SignOnSecrets,
  ): Promise<
    | { readonly kind: 'begun'; readonly authorizationUrl: string }
    | { readonly kind: 'unavailable'; readonly detail: string }
  >;
  /**
   * Trades the code that came back for what the provider says of the person,
   * and checks state, issuer, signature, audience, times and nonce. Nothing of
   * what the provider issued is kept.
   */
  finish(secrets: SignOnSecrets & { readonly callbackQuery: string }): Promise<SignOnAnswer>;
}

/** Which provider, and who we are there. */
export interface OidcSettings {
  /** As the provider names itself, such as "https://login.example.com"; http:// on this machine only. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the button of the sign-in page says. */
  readonly label: string;
}
