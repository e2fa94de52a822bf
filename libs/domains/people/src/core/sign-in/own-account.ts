import { isRefusal } from '@gateway/errors';
import { refusals, type AdminRefusal, type Actor, type Session } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import type { StoredMember } from '../ports';
import { MAX_PASSWORD_CHARACTERS } from './member-rules';
import { getSession } from './sessions';
import { forgiveAttempts, throttle } from './sign-in-throttle';

export type OwnAccountPorts = Pick<
  PeoplePorts,
  'sessions' | 'members' | 'passwords' | 'attempts' | 'secrets' | 'clock' | 'newId' | 'settings'
>;

/** Whoever is signed in, about to change their own account. */
export interface Self {
  readonly member: StoredMember;
  readonly session: Session;
  readonly actor: Actor;
}

export interface FromSession {
  readonly sessionToken: string;
  readonly ipAddress: string;
}

/** Whose session it is; who is signed in may have left a screen open, so what matters asks for the password too. */
export async function ownAccount(
  ports: OwnAccountPorts,
  { sessionToken, ipAddress }: FromSession,
): Promise<Self | AdminRefusal> {
  const session = await getSession(ports, sessionToken, ipAddress);
  const member = session && (await ports.members.find(session.member.id));
  if (!session || !member) return refusals.notSignedIn;
  return { member, session, actor: { id: member.id, label: member.email, ipAddress } };
}

export async function ownAccountByPassword(
  ports: OwnAccountPorts,
  from: FromSession,
  password: string,
): Promise<Self | AdminRefusal> {
  const self = await ownAccount(ports, from);
  if (isRefusal(self)) return self;
  const { member } = self;
  const tooMany = await throttle(ports, 'credential', `password:${member.id}`);
  if (tooMany) return tooMany;
  const typed = password.slice(0, MAX_PASSWORD_CHARACTERS);
  if (!(await ports.passwords.verify(typed, member.passwordHash))) return refusals.wrongPassword;
  await forgiveAttempts(ports, 'credential', `password:${member.id}`);
  return self;
}
