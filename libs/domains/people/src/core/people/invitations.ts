import type { UnixMs } from '@gateway/base';
import {
  conflict,
  invalid,
  notFound,
  refusals,
  type AdminRefusal,
  auditOf,
  type Actor,
  isIdLike,
} from '@gateway/auth-shared';
import { refuseUnlessPermitted } from '../access/authorize';
import type { Invitation, OrganizationRole } from '../model';
import type { PeoplePorts } from '../ports';
import { canonicalEmail } from '../sign-in/member-rules';
import { throttle } from '../sign-in/sign-in-throttle';
const INVITATION_MS = 7 * 86_400_000;

type InvitationPorts = Pick<
  PeoplePorts,
  | 'invitations'
  | 'organizations'
  | 'members'
  | 'memberships'
  | 'attempts'
  | 'addressRanges'
  | 'secrets'
  | 'mailer'
  | 'log'
  | 'clock'
  | 'newId'
>;

export interface CreateInvitation {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly email: string;
  readonly role: OrganizationRole;
  readonly dashboardUrl: string;
}

export interface CreatedInvitation {
  readonly kind: 'created';
  readonly invitation: Invitation;
  /** Answered once; only the hash of its token is stored. */
  readonly link: string;
  readonly mailed: boolean;
}

/** An earlier one that is open for the same email is revoked: there is one link per person. */
export async function createInvitation(
  ports: InvitationPorts,
  { actor, organizationId, email: requested, role, dashboardUrl }: CreateInvitation,
): Promise<CreatedInvitation | AdminRefusal> {
  const needed = role === 'owner' ? 'members:manage_owners' : 'members:manage';
  const refusal = await refuseUnlessPermitted(ports, actor, needed, organizationId);
  if (refusal) return refusal;
  const email = canonicalEmail(requested);
  if (email === undefined) return invalid('email', 'email is not an email address.');
  const organization = await ports.organizations.find(organizationId);
  if (!organization) return notFound('organization');
  const token = ports.secrets.random();
  const now = ports.clock.now();
  const invitation: Invitation = {
    id: ports.newId('inv'),
    organizationId,
    email,
    role,
    invitedBy: actor.label,
    createdAt: now,
    expiresAt: (now + INVITATION_MS) as UnixMs,
  };
  const details = { email, role };
  const audit = auditOf(
    { actor, organizationId, action: 'invitation.create', target: invitation.id, details },
    ports,
  );
  const inserted = await ports.invitations.insert(invitation, ports.secrets.sha256(token), audit);
  if (inserted === 'taken') return conflict('This person is in the organization already.');
  // Behind "#", which browsers send to nobody and servers log nowhere.
  const link = `${dashboardUrl}/invitation#${token}`;
  const mailed = await mailInvitation(ports, invitation, organization.name, link);
  return { kind: 'created', invitation, link, mailed };
}

/** The link is there without it, so a mail that fails is told and no more. */
async function mailInvitation(
  { mailer, log }: InvitationPorts,
  { email, invitedBy }: Invitation,
  organizationName: string,
  link: string,
): Promise<boolean> {
  if (!mailer) return false;
  const text = `${invitedBy} invites you to ${organizationName}. The link is good once, for seven days:\n\n${link}\n`;
  try {
    await mailer.send({ to: email, subject: `Invitation to ${organizationName}`, text });
    return true;
  } catch (error) {
    log.warn({ err: error }, 'a mail with an invitation was not sent');
    return false;
  }
}

export async function revokeInvitation(
  ports: InvitationPorts,
  { actor, organizationId, invitationId }: { actor: Actor; organizationId: string; invitationId: string },
): Promise<AdminRefusal | undefined> {
  const refusal = await refuseUnlessPermitted(ports, actor, 'members:manage', organizationId);
  if (refusal) return refusal;
  const found = isIdLike(invitationId) && (await ports.invitations.find(organizationId, invitationId));
  if (!found) return notFound('invitation');
  const details = { email: found.email, role: found.role };
  const audit = auditOf(
    { actor, organizationId, action: 'invitation.revoke', target: found.id, details },
    ports,
  );
  const revoked = await ports.invitations.revoke(found.id, ports.clock.now(), audit);
  return revoked ? undefined : conflict('It was accepted or revoked before.');
}

export interface InvitationForGuest {
  readonly kind: 'invitation';
  readonly invitation: Invitation;
  readonly organizationName: string;
  readonly hasAccount: boolean;
}

/** The invitation of a link, while it is good. */
export async function lookUpInvitation(
  ports: InvitationPorts,
  { token, ipAddress }: { token: string; ipAddress: string },
): Promise<InvitationForGuest | AdminRefusal> {
  const tooMany = await throttle(ports, 'link', ports.addressRanges.countedAs(ipAddress));
  if (tooMany) return tooMany;
  const found = await ports.invitations.findByToken(ports.secrets.sha256(token));
  if (!found || stateOf(found.invitation, ports.clock.now()) !== 'pending') return refusals.linkNotValid;
  const member = await ports.members.findByEmail(found.invitation.email);
  return { kind: 'invitation', ...found, hasAccount: member !== undefined };
}

export function stateOf(
  { acceptedAt, revokedAt, expiresAt }: Invitation,
  now: UnixMs,
): 'pending' | 'expired' | 'accepted' | 'revoked' {
  if (acceptedAt !== undefined) return 'accepted';
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt <= now ? 'expired' : 'pending';
}
