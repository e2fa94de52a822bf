import { personLabel } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { refusals, type AdminRefusal, type Actor, type Session } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import type { StoredMember } from '../ports';
import { findOwnSession, type SessionPerson } from './sessions';
import { resetAttempts, throttle } from './sign-in-throttle';
import { verifyPassword } from './verify-password';

export type OwnAccountPorts = Pick<
  PeoplePorts,
  'sessions' | 'members' | 'passwords' | 'attempts' | 'secrets' | 'clock' | 'newId' | 'settings'
>;

/** The account of the signed-in member who is changing it. */
export interface OwnAccount {
  readonly member: StoredMember;
  readonly session: Session;
  readonly actor: Actor;
}

export interface FromSession {
  readonly person: SessionPerson;
}

/** The account of a session. Sensitive changes also require the password, as the session may be unattended. */
export async function ownAccount(
  ports: OwnAccountPorts,
  { person }: FromSession,
): Promise<OwnAccount | AdminRefusal> {
  const session = await findOwnSession(ports, person);
  const member = session && (await ports.members.find(session.member.id));
  if (!session || !member) return refusals.notSignedIn;
  return {
    member,
    session,
    actor: { id: member.id, label: personLabel(member), ipAddress: person.ipAddress },
  };
}

export async function ownAccountByPassword(
  ports: OwnAccountPorts,
  from: FromSession,
  password: string,
): Promise<OwnAccount | AdminRefusal> {
  const account = await ownAccount(ports, from);
  if (isRefusal(account)) return account;
  const { member } = account;
  const tooMany = await throttle(ports, 'credential', `password:${member.id}`);
  if (tooMany) return tooMany;
  if (!(await verifyPassword(ports, password, member.passwordHash))) return refusals.wrongPassword;
  await resetAttempts(ports, 'credential', `password:${member.id}`);
  return account;
}
