import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { type AdminRefusal, auditOf, refusals } from '@gateway/auth-shared';
import { checkPassword } from './check-password';
import type { PeoplePorts } from '../ports';
import { ownAccountByPassword, type FromSession, type OwnAccountPorts } from './own-account';
import { awaitRevocation, prepareSession, type OpenedSession } from './sessions';

export interface ChangePassword extends FromSession {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly device: string;
}

/** Changes the password, ends every session of the member, and returns a new one. */
export async function changePassword(
  ports: OwnAccountPorts & Pick<PeoplePorts, 'passwordStrength' | 'leases' | 'feed'>,
  request: ChangePassword,
  signal: CancelSignal,
): Promise<OpenedSession | AdminRefusal> {
  const account = await ownAccountByPassword(ports, request, request.currentPassword);
  if (isRefusal(account)) return account;
  const { member, session, actor } = account;
  const weak = await checkPassword(ports, request.newPassword, member.email);
  if (weak)
    return { ...weak, field: 'new_password', message: weak.message.replace('password', 'new_password') };
  const passwordHash = await ports.passwords.hash(request.newPassword);
  const audit = auditOf(
    { actor, action: 'member.change_password', target: member.id, details: { email: member.email } },
    ports,
  );
  const { ipAddress } = actor;
  const opening = { member, ipAddress, device: request.device, signedInBy: session.signedInBy };
  const { opened, sessionToken } = prepareSession(ports, opening);
  const changed = { checked: member, sessionId: session.id, opened };
  const ended = await ports.members.setPassword(member.id, passwordHash, audit, changed);
  if (!ended) return refusals.wrongPassword;
  await awaitRevocation(ports, ended, signal);
  return { session: opened.session, sessionToken };
}
