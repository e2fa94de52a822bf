import { personLabel } from '@gateway/base';
import { auditOf } from '@gateway/auth-shared';
import type { OrganizationDomain } from '../model';
import type { PeoplePorts, StoredMember } from '../ports';
import { openSession, prepareSession, type OpenedSession } from '../sign-in/sessions';
import type { LinkedMember } from './ports';
import { refusedTo, type SignOnRefused } from './sign-on-refusal';

export type IdentifyPorts = Pick<
  PeoplePorts,
  'members' | 'memberships' | 'identities' | 'sessions' | 'secrets' | 'clock' | 'newId' | 'settings'
>;

/** An identity that the provider has verified, with an email of a mapped domain. */
export interface VerifiedIdentity {
  readonly kind: 'verified';
  readonly issuer: string;
  /** The provider's identifier of the person, which it never reassigns. */
  readonly subject: string;
  readonly email: string;
  /** Empty: the provider has none. */
  readonly name: string;
  readonly domain: string;
}

export interface FromBrowser {
  readonly ipAddress: string;
  readonly device: string;
}

type Opened = OpenedSession & { readonly kind: 'opened' };

/** Concurrent first sign-ins of one person conflict, and the second has to try again. */
const MAX_ATTEMPTS = 3;

/**
 * Opens a session for the member with this identity. At the first sign-in, links
 * the identity to the member with this email, creates the member if there is
 * none, and adds them to the domain's organization. A member who is removed from
 * the organization later is not added again.
 */
export async function openSessionForIdentity(
  ports: IdentifyPorts,
  identity: VerifiedIdentity,
  mapping: OrganizationDomain,
  from: FromBrowser,
): Promise<Opened | SignOnRefused> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const known = await ports.identities.find(identity.issuer, identity.subject);
    const opened = known
      ? await openForKnown(ports, known, from)
      : await openForNew(ports, identity, mapping, from);
    if (opened) return opened;
  }
  throw new Error('an identity was neither found nor linked');
}

/** Undefined: the member has changed meanwhile, so look them up again. */
async function openForKnown(
  ports: IdentifyPorts,
  member: StoredMember,
  from: FromBrowser,
): Promise<Opened | SignOnRefused | undefined> {
  if (member.disabled) return refusedTo(member, 'account_disabled');
  const opened = await openSession(ports, { member, ...from, signedInBy: 'oidc' });
  return opened && { kind: 'opened', ...opened };
}

/** Undefined: a concurrent sign-in has linked the identity, or the member has changed, so look them up again. */
async function openForNew(
  ports: IdentifyPorts,
  identity: VerifiedIdentity,
  { organizationId, role }: OrganizationDomain,
  from: FromBrowser,
): Promise<Opened | SignOnRefused | undefined> {
  const { email, issuer, subject } = identity;
  const existing = await ports.members.findByEmail(email);
  const linkedSubject = existing && (await ports.identities.subjectOf(existing.id, issuer));
  if (linkedSubject === subject) return undefined;
  if (existing && linkedSubject !== undefined) return refusedTo(existing, 'identity_mismatch');
  if (existing?.disabled) return refusedTo(existing, 'account_disabled');
  const member: StoredMember = existing ?? {
    ...{ id: ports.newId('mem'), email, name: identity.name, role: 'member' },
    ...{ disabled: false, timeZone: '' },
  };
  const belongs = existing && (await ports.memberships.find(organizationId, member.id)).role !== undefined;
  const actor = { id: member.id, label: personLabel(member), ipAddress: from.ipAddress };
  const audited = (action: string, details: object, inOrganization = true) =>
    auditOf(
      {
        actor,
        ...(inOrganization ? { organizationId } : {}),
        action,
        target: member.id,
        details: { email, ...details },
      },
      ports,
    );
  const { opened, sessionToken } = prepareSession(ports, { member, ...from, signedInBy: 'oidc' });
  const linked: LinkedMember = {
    issuer,
    subject,
    member,
    isNew: !existing,
    at: ports.clock.now(),
    ...(belongs ? {} : { membership: { organizationId, role } }),
    audits: [
      ...(existing ? [] : [audited('member.create', member.name === '' ? {} : { name: member.name })]),
      audited('member.link_identity', { issuer, subject }, false),
      ...(belongs ? [] : [audited('membership.create', { role, domain: identity.domain })]),
    ],
    opened,
  };
  const done = await ports.identities.link(linked);
  return done ? { kind: 'opened', session: opened.session, sessionToken } : undefined;
}
