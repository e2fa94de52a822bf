import {
  labelForCustomers,
  mailTime,
  mayManagementTokensGrant,
  OPERATOR_LABEL,
  type UnixMs,
} from '@gateway/base';
import {
  conflict,
  forbidden,
  invalid,
  notFound,
  refusals,
  type AdminRefusal,
  auditOf,
  type Actor,
  isIdLike,
  checkThat,
} from '@gateway/auth-shared';
import { refuseUnlessPermitted } from '../access/authorize';
import { notForManagementTokens } from './organization-members';
import { countEmails } from '../email/count-emails';
import type { Invitation, OrganizationRole } from '../model';
import type { PeoplePorts } from '../ports';
import { canonicalEmail } from '../sign-in/member-rules';
import { throttle } from '../sign-in/sign-in-throttle';

const INVITATION_MS = 7 * 86_400_000;
/** The most invitations of an organization, without expired ones. */
const MAX_OPEN_INVITATIONS = 1_000;

type InvitationPorts = Pick<
  PeoplePorts,
  | 'invitations'
  | 'organizations'
  | 'members'
  | 'memberships'
  | 'managementTokens'
  | 'attempts'
  | 'addressRanges'
  | 'secrets'
  | 'mailer'
  | 'log'
  | 'clock'
  | 'newId'
  | 'settings'
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
  /** Returned once; only the hash of its token is stored. */
  readonly link: string;
  readonly mailed: boolean;
}

/** Creates an invitation and revokes an earlier open one for the same email. */
export async function createInvitation(
  ports: InvitationPorts,
  { actor, organizationId, email: requested, role, dashboardUrl }: CreateInvitation,
): Promise<CreatedInvitation | AdminRefusal> {
  const needed = role === 'owner' ? 'members:manage_owners' : 'members:manage';
  const refusal = await refuseUnlessPermitted(ports, actor, needed, organizationId);
  if (refusal) return refusal;
  if (actor.tokenAccess !== undefined && !mayManagementTokensGrant(role)) return notForManagementTokens();
  const email = canonicalEmail(requested);
  if (email === undefined) return invalid('email', 'email is not an email address.');
  const organization = await ports.organizations.find(organizationId);
  if (!organization) return notFound('organization');
  const sender = { personId: actor.id, organizationId };
  const tooMany = ports.mailer && (await countEmails(ports, { ...sender, recipients: [email] }));
  if (tooMany) return tooMany;
  const token = ports.secrets.random();
  const now = ports.clock.now();
  const invitation: Invitation = {
    id: ports.newId('inv'),
    organizationId,
    email,
    role,
    invitedBy: labelForCustomers(actor),
    createdAt: now,
    expiresAt: (now + INVITATION_MS) as UnixMs,
  };
  const details = { email, role };
  const audit = auditOf(
    { actor, organizationId, action: 'invitation.create', target: invitation.id, details },
    ports,
  );
  const inserted = await ports.invitations.insert(
    invitation,
    ports.secrets.sha256(token),
    checkThat(actor.id, needed),
    MAX_OPEN_INVITATIONS,
    audit,
  );
  if (inserted === 'forbidden') return forbidden();
  if (inserted === 'too_many') {
    const message = `An organization has at most ${MAX_OPEN_INVITATIONS} open invitations. Revoke one first.`;
    return conflict(message);
  }
  if (inserted === 'already_member') return conflict('This person is already a member of the organization.');
  // Browsers do not send the fragment after "#", so servers do not log the token.
  const link = `${ports.settings.dashboardOrigin ?? dashboardUrl}/invitation#${token}`;
  const mailed = await sendInvitation(ports, invitation, organization.name, link);
  return { kind: 'created', invitation, link, mailed };
}

/** A failure is only logged, since the inviting user also gets the link. */
async function sendInvitation(
  { mailer, members, log }: InvitationPorts,
  { email, invitedBy, expiresAt }: Invitation,
  organizationName: string,
  link: string,
): Promise<boolean> {
  if (!mailer) return false;
  const inviter = invitedBy === OPERATOR_LABEL ? 'An operator' : invitedBy;
  const account = await members.findByEmail(email);
  try {
    await mailer.send({
      to: email,
      subject: `You have been invited to join ${organizationName}`,
      paragraphs: [`${inviter} has invited you to join ${organizationName} on Inference Gateway.`],
      link: { label: 'Accept the invitation', url: link },
      notes: [
        `This link can be used once, until ${mailTime(expiresAt, account?.timeZone)}.`,
        'If you were not expecting this invitation, you can ignore this email.',
      ],
    });
    return true;
  } catch (error) {
    log.warn({ err: error }, 'cannot send an invitation email');
    return false;
  }
}

export async function revokeInvitation(
  ports: InvitationPorts,
  { actor, organizationId, invitationId }: { actor: Actor; organizationId: string; invitationId: string },
): Promise<AdminRefusal | undefined> {
  const found = isIdLike(invitationId) && (await ports.invitations.find(organizationId, invitationId));
  if (!found) return notFound('invitation');
  const details = { email: found.email, role: found.role };
  const audit = auditOf(
    { actor, organizationId, action: 'invitation.revoke', target: found.id, details },
    ports,
  );
  const revoked = await ports.invitations.revoke(found.id, ports.clock.now(), audit);
  return revoked ? undefined : conflict('This invitation has already been accepted or revoked.');
}

export interface InvitationDetails {
  readonly kind: 'invitation';
  readonly invitation: Invitation;
  readonly organizationName: string;
  readonly hasAccount: boolean;
}

/** Returns the invitation of a link, if the link is valid. */
export async function lookUpInvitation(
  ports: InvitationPorts,
  { token, ipAddress }: { token: string; ipAddress: string },
): Promise<InvitationDetails | AdminRefusal> {
  const tooMany = await throttle(ports, 'link', ports.addressRanges.networkOf(ipAddress));
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
