import {
  conflict,
  forbidden,
  invalid,
  notFound,
  type AdminRefusal,
  auditOf,
  type Actor,
  isIdLike,
  checkThat,
} from '@gateway/auth-shared';
import type { OrganizationDomain, OrganizationRole } from '../model';
import type { PeoplePorts } from '../ports';

const MAX_DOMAIN_CHARACTERS = 253;
/** Per organization; they are shown on one page. */
const MAX_DOMAINS = 50;

/** Public email providers, which no organization may map. */
const PUBLIC_MAIL = new Set([
  ...['gmail.com', 'googlemail.com', 'outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'yahoo.com'],
  ...['icloud.com', 'me.com', 'aol.com', 'proton.me', 'protonmail.com', 'gmx.net', 'gmx.de', 'web.de'],
  ...['mail.com', 'mail.ru', 'yandex.ru', 'qq.com', '163.com'],
]);

type DomainPorts = Pick<
  PeoplePorts,
  'domains' | 'organizations' | 'members' | 'memberships' | 'managementTokens' | 'clock' | 'newId'
>;

/** The domain in lower case and punycode; undefined if it is invalid. */
export function canonicalDomain(text: string): string | undefined {
  const trimmed = text.trim().replace(/\.$/, '');
  if (!URL.canParse(`https://${trimmed}`)) return undefined;
  const { hostname, href } = new URL(`https://${trimmed}`);
  // Only a host name of at least two labels; no IP address.
  if (href !== `https://${hostname}/` || hostname.length > MAX_DOMAIN_CHARACTERS) return undefined;
  return /^([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]*[a-z\d]$/.test(hostname) ? hostname : undefined;
}

/** The domain of an email in canonical form. */
export function domainOf(email: string): string | undefined {
  return canonicalDomain(email.slice(email.lastIndexOf('@') + 1));
}

interface DomainTarget {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly domain: string;
}

/**
 * Admits people of a domain by single sign-on, with this role. Only operators
 * may map domains: an organization that mapped a domain of others would admit
 * their people.
 */
export async function mapDomain(
  ports: DomainPorts,
  { actor, organizationId, domain: requested, role }: DomainTarget & { readonly role: OrganizationRole },
): Promise<OrganizationDomain | AdminRefusal> {
  const domain = canonicalDomain(requested);
  if (domain === undefined) return invalid('domain', 'domain must be a domain, such as example.com.');
  if (PUBLIC_MAIL.has(domain)) {
    return invalid(
      'domain',
      `${domain} is a public email provider. Map a domain that belongs to the organization.`,
    );
  }
  if (role === 'owner') return invalid('role', 'role must be admin or member.');
  if (!isIdLike(organizationId) || !(await ports.organizations.find(organizationId)))
    return notFound('organization');
  const mapped: OrganizationDomain = {
    domain,
    organizationId,
    role,
    mappedBy: actor.label,
    mappedAt: ports.clock.now(),
  };
  const written = await ports.domains.map(
    mapped,
    checkThat(actor.id, 'platform:single_sign_on'),
    MAX_DOMAINS,
    (before) =>
      auditOf(
        {
          actor,
          organizationId,
          action: 'organization.map_domain',
          target: domain,
          details: { changed: { role: { before: before?.role ?? null, after: role } } },
        },
        ports,
      ),
  );
  if (written === 'forbidden') return forbidden();
  if (written === 'mapped_elsewhere') return conflict(`${domain} is mapped to another organization.`);
  if (written === 'too_many') return conflict(`An organization can have at most ${MAX_DOMAINS} domains.`);
  return mapped;
}

/** Stops single sign-on for the domain. Existing members and their sessions remain. */
export async function unmapDomain(
  ports: DomainPorts,
  { actor, organizationId, domain: requested }: DomainTarget,
): Promise<AdminRefusal | undefined> {
  const domain = canonicalDomain(requested);
  if (domain === undefined || !isIdLike(organizationId)) return notFound('domain');
  const removed = await ports.domains.unmap(
    organizationId,
    domain,
    checkThat(actor.id, 'platform:single_sign_on'),
    ({ role }) =>
      auditOf(
        { actor, organizationId, action: 'organization.unmap_domain', target: domain, details: { role } },
        ports,
      ),
  );
  if (removed === 'forbidden') return forbidden();
  return removed === 'unmapped' ? undefined : notFound('domain');
}
