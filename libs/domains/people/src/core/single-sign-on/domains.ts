import {
  conflict,
  invalid,
  notFound,
  type AdminRefusal,
  auditOf,
  type Actor,
  isIdLike,
} from '@gateway/auth-shared';
import { refuseUnlessPermitted } from '../access/authorize';
import type { OrganizationDomain, OrganizationRole } from '../model';
import type { PeoplePorts } from '../ports';
const MAX_DOMAIN_CHARACTERS = 253;
/** Of one organization; they are shown on one page. */
const MAX_DOMAINS = 50;

/** Where everybody can have an address, so that no organization may claim all of it. */
const PUBLIC_MAIL = new Set([
  ...['gmail.com', 'googlemail.com', 'outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'yahoo.com'],
  ...['icloud.com', 'me.com', 'aol.com', 'proton.me', 'protonmail.com', 'gmx.net', 'gmx.de', 'web.de'],
  ...['mail.com', 'mail.ru', 'yandex.ru', 'qq.com', '163.com'],
]);

type DomainPorts = Pick<
  PeoplePorts,
  'domains' | 'organizations' | 'members' | 'memberships' | 'clock' | 'newId'
>;

/** In lower case and punycode, as domains are compared; undefined when it is none. */
export function canonicalDomain(text: string): string | undefined {
  const trimmed = text.trim().replace(/\.$/, '');
  if (!URL.canParse(`https://${trimmed}`)) return undefined;
  const { hostname, href } = new URL(`https://${trimmed}`);
  // Nothing but a host, and of two labels at least; an address of a machine is no domain.
  if (href !== `https://${hostname}/` || hostname.length > MAX_DOMAIN_CHARACTERS) return undefined;
  return /^([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]*[a-z\d]$/.test(hostname) ? hostname : undefined;
}

/** Of an email in canonical form. */
export function domainOf(email: string): string | undefined {
  return canonicalDomain(email.slice(email.lastIndexOf('@') + 1));
}

interface DomainTarget {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly domain: string;
}

/**
 * Lets people of a domain in by single sign-on, as this role. It takes an
 * operator: whoever could map a domain that is not theirs would get its people.
 */
export async function mapDomain(
  ports: DomainPorts,
  { actor, organizationId, domain: requested, role }: DomainTarget & { readonly role: OrganizationRole },
): Promise<OrganizationDomain | AdminRefusal> {
  const refusal = await refuseUnlessPermitted(ports, actor, 'platform:organizations', organizationId);
  if (refusal) return refusal;
  const domain = canonicalDomain(requested);
  if (domain === undefined) return invalid('domain', 'domain must be a domain, such as example.com.');
  if (PUBLIC_MAIL.has(domain)) {
    return invalid(
      'domain',
      `Everybody can have an address at ${domain}. Map a domain that is the organization's own.`,
    );
  }
  if (role === 'owner') return invalid('role', 'role must be admin or member: owners are made one by one.');
  if (!isIdLike(organizationId) || !(await ports.organizations.find(organizationId)))
    return notFound('organization');
  const mapped: OrganizationDomain = {
    domain,
    organizationId,
    role,
    mappedBy: actor.label,
    mappedAt: ports.clock.now(),
  };
  const written = await ports.domains.map(mapped, MAX_DOMAINS, (before) =>
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
  if (written === 'taken') return conflict(`${domain} is mapped to another organization.`);
  if (written === 'too_many') return conflict(`An organization has at most ${MAX_DOMAINS} domains.`);
  return mapped;
}

/** Who came by it stays a member and keeps their sessions; nobody signs in by it any more. */
export async function unmapDomain(
  ports: DomainPorts,
  { actor, organizationId, domain: requested }: DomainTarget,
): Promise<AdminRefusal | undefined> {
  const refusal = await refuseUnlessPermitted(ports, actor, 'platform:organizations', organizationId);
  if (refusal) return refusal;
  const domain = canonicalDomain(requested);
  if (domain === undefined || !isIdLike(organizationId)) return notFound('domain');
  const removed = await ports.domains.unmap(organizationId, domain, ({ role }) =>
    auditOf(
      { actor, organizationId, action: 'organization.unmap_domain', target: domain, details: { role } },
      ports,
    ),
  );
  return removed ? undefined : notFound('domain');
}
