import { isRefusal } from '@gateway/errors';
import { type AdminRefusal, auditOf } from '@gateway/auth-shared';
import { checkPassword } from './member-rules';
import { ownAccountByPassword, type FromSession, type OwnAccountPorts } from './own-account';
import { prepareSession, type OpenedSession } from './sessions';

export interface ChangePassword extends FromSession {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly device: string;
}

/** Ends every session of the member, and goes on in a new one. */
export async function changePassword(
  ports: OwnAccountPorts,
  request: ChangePassword,
): Promise<OpenedSession | AdminRefusal> {
  const self = await ownAccountByPassword(ports, request, request.currentPassword);
  if (isRefusal(self)) return self;
  const { member, session, actor } = self;
  const weak = checkPassword(request.newPassword, member.email);
  if (weak)
    return { ...weak, field: 'new_password', message: weak.message.replace('password', 'new_password') };
  const passwordHash = await ports.passwords.hash(request.newPassword);
  const audit = auditOf(
    { actor, action: 'member.change_password', target: member.id, details: { email: member.email } },
    ports,
  );
  const { ipAddress, device } = request;
  const opening = { member, ipAddress, device, signedInBy: session.signedInBy };
  const { opened, sessionToken } = prepareSession(ports, opening);
  await ports.members.setPassword(member.id, passwordHash, audit, opened);
  return { session: opened.session, sessionToken };
}
