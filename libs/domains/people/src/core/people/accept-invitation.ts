import { personLabel } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import {
  invalid,
  refusals,
  type AdminRefusal,
  auditOf,
  type Member,
  type Session,
} from '@gateway/auth-shared';
import type { Invitation } from '../model';
import type { PeoplePorts } from '../ports';
import type { StoredMember } from '../ports';
import { checkPassword } from '../sign-in/check-password';
import { touchSession, prepareSession } from '../sign-in/sessions';
import { readPersonName } from './change-profile';
import { lookUpInvitation } from './invitations';

export interface AcceptInvitation {
  readonly token: string;
  /** Required from people without an account. */
  readonly password?: string | undefined;
  /** Only people without an account have one here. */
  readonly name?: string | undefined;
  /** Required from people with an account. */
  readonly sessionToken?: string | undefined;
  readonly ipAddress: string;
  readonly device: string;
}

export interface AcceptedSession {
  readonly session: Session;
  readonly sessionToken: string;
}

type AcceptPorts = Parameters<typeof lookUpInvitation>[0] &
  Pick<PeoplePorts, 'sessions' | 'passwords' | 'passwordStrength' | 'settings'>;

/**
 * Accepts an invitation. A person with an account must be signed in as the
 * invited member: the link must not give access to an existing account.
 */
export async function acceptInvitation(
  ports: AcceptPorts,
  request: AcceptInvitation,
): Promise<AcceptedSession | AdminRefusal> {
  const found = await lookUpInvitation(ports, request);
  if (isRefusal(found)) return found;
  return found.hasAccount
    ? acceptAsMember(ports, found.invitation, request)
    : acceptAsNew(ports, found.invitation, request);
}

async function acceptAsMember(
  ports: AcceptPorts,
  invitation: Invitation,
  { sessionToken, ipAddress }: AcceptInvitation,
): Promise<AcceptedSession | AdminRefusal> {
  const session = sessionToken === undefined ? undefined : await touchSession(ports, sessionToken, ipAddress);
  if (!session || sessionToken === undefined || session.member.email !== invitation.email) {
    return { ...refusals.notSignedIn, message: `Sign in as ${invitation.email} first.` };
  }
  const { member } = session;
  const audits = [acceptanceOf(ports, invitation, member, ipAddress)];
  const at = ports.clock.now();
  const accepted = await ports.invitations.accept({ invitation, memberId: member.id, at, audits });
  return accepted ? { session, sessionToken } : refusals.linkNotValid;
}

async function acceptAsNew(
  ports: AcceptPorts,
  invitation: Invitation,
  { password, name: requestedName = '', ipAddress, device }: AcceptInvitation,
): Promise<AcceptedSession | AdminRefusal> {
  const { email } = invitation;
  if (password === undefined) return invalid('password', 'password is required to create an account.');
  const weak = await checkPassword(ports, password, email);
  if (weak) return weak;
  const name = readPersonName(requestedName);
  if (isRefusal(name)) return name;
  const passwordHash = await ports.passwords.hash(password);
  const newMember: StoredMember = {
    id: ports.newId('mem'),
    email,
    name,
    role: 'member',
    disabled: false,
    timeZone: '',
    passwordHash,
  };
  const created = auditOf(
    {
      actor: { id: newMember.id, label: personLabel(newMember), ipAddress },
      organizationId: invitation.organizationId,
      action: 'member.create',
      target: newMember.id,
      // The role is that of the invitation; the platform role `member` would look like it.
      details: { email, ...(name !== '' && { name }) },
    },
    ports,
  );
  const audits = [created, acceptanceOf(ports, invitation, newMember, ipAddress)];
  const opening = { member: newMember, ipAddress, device, signedInBy: 'password' as const };
  const { opened, sessionToken } = prepareSession(ports, opening);
  const at = ports.clock.now();
  const accepted = await ports.invitations.accept({
    invitation,
    memberId: newMember.id,
    newMember,
    at,
    audits,
    opened,
  });
  return accepted ? { session: opened.session, sessionToken } : refusals.linkNotValid;
}

function acceptanceOf(
  ports: AcceptPorts,
  { id, organizationId, role }: Invitation,
  member: Member,
  ipAddress: string,
) {
  const actor = { id: member.id, label: personLabel(member), ipAddress };
  const details = { email: member.email, role };
  return auditOf({ actor, organizationId, action: 'invitation.accept', target: id, details }, ports);
}
