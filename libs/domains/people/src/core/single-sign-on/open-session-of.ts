import { auditOf, type Member } from '@gateway/auth-shared';
import type { OrganizationDomain } from '../model';
import type { PeoplePorts } from '../ports';
import { openSession, prepareSession, type OpenedSession } from '../sign-in/sessions';
import type { LinkedMember } from './ports';
import { refused, type SignOnRefused } from './sign-on-refusal';

export type IdentifyPorts = Pick<
  PeoplePorts,
  'members' | 'memberships' | 'identities' | 'sessions' | 'secrets' | 'clock' | 'newId' | 'settings'
>;

/** Whom the provider vouches for, by an email of a domain that is mapped. */
export interface VerifiedIdentity {
  readonly kind: 'verified';
  readonly issuer: string;
  /** The provider's own name of the person, which it gives to nobody else. */
  readonly subject: string;
  readonly email: string;
  readonly domain: string;
}

export interface FromBrowser {
  readonly ipAddress: string;
  readonly device: string;
}

type Opened = OpenedSession & { readonly kind: 'opened' };

/** Two sign-ins of one new person at once: the second finds what the first has made. */
const MAX_TRIES = 3;

/**
 * The session of the member who is this identity. Who comes for the first time
 * is linked by the email, made a member if there is none, and joins the
 * domain's organization; whoever was taken out of it later stays out.
 */
export async function openSessionOf(
  ports: IdentifyPorts,
  identity: VerifiedIdentity,
  mapping: OrganizationDomain,
  from: FromBrowser,
): Promise<Opened | SignOnRefused> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const known = await ports.identities.find(identity.issuer, identity.subject);
    const opened = known
      ? await openForKnown(ports, known, from)
      : await openForNew(ports, identity, mapping, from);
    if (opened) return opened;
  }
  throw new Error('an identity was neither found nor linked');
}

async function openForKnown(ports: IdentifyPorts, member: Member, from: FromBrowser): Promise<Opened> {
  return { kind: 'opened', ...(await openSession(ports, { member, ...from, signedInBy: 'oidc' })) };
}

/** Undefined: somebody was quicker, so look again. */
async function openForNew(
  ports: IdentifyPorts,
  identity: VerifiedIdentity,
  { organizationId, role }: OrganizationDomain,
  from: FromBrowser,
): Promise<Opened | SignOnRefused | undefined> {
  const { email, issuer, subject } = identity;
  const existing = await ports.members.findByEmail(email);
  if (existing && (await ports.identities.isLinked(existing.id, issuer))) return refused('other_identity');
  const member: Member = existing ?? { id: ports.newId('mem'), email, role: 'member' };
  const belongs = existing && (await ports.memberships.find(organizationId, member.id)).role !== undefined;
  const actor = { id: member.id, label: email, ipAddress: from.ipAddress };
  const audited = (action: string, details: object, ofOrganization = true) =>
    auditOf(
      {
        actor,
        ...(ofOrganization ? { organizationId } : {}),
        action,
        target: member.id,
        details: { email, ...details },
      },
      ports,
    );
  const { opened, sessionToken } = prepareSession(ports, { member, ...from, signedInBy: 'oidc' });
  const linked: LinkedMember = {
    ...{ issuer, subject, memberId: member.id, at: ports.clock.now() },
    ...(existing ? {} : { newMember: member }),
    ...(belongs ? {} : { membership: { organizationId, role } }),
    audits: [
      ...(existing ? [] : [audited('member.create', { role: member.role })]),
      audited('member.link_identity', { issuer, subject }, false),
      ...(belongs ? [] : [audited('membership.create', { role, domain: identity.domain })]),
    ],
    opened,
  };
  const done = await ports.identities.link(linked);
  return done ? { kind: 'opened', session: opened.session, sessionToken } : undefined;
}
