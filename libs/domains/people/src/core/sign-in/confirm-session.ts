import { conflict, refusals, type AdminRefusal } from '@gateway/auth-shared';
import type { Permission } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { refuseUnlessPermitted, type PermissionPorts } from '../access/authorize';
import type { PeoplePorts } from '../ports';
import { ownAccount, ownAccountByPassword, type FromSession, type OwnAccountPorts } from './own-account';
import type { SessionPerson } from './sessions';
import { hasSecondFactor, refuseSecondFactor, type SecondFactorPorts } from './second-factor';

/** How long a password or code confirms the session for sensitive changes. */
const CONFIRMATION_MS = 5 * 60_000;

/**
 * A refusal unless the person has the permission, and has entered a password or code recently: an unattended or stolen
 * session is not enough for a sensitive change.
 */
export async function refuseUnlessConfirmed(
  ports: PermissionPorts & Pick<PeoplePorts, 'sessions'>,
  person: SessionPerson,
  permission: Permission,
  organizationId?: string,
): Promise<AdminRefusal | undefined> {
  const refusal = await refuseUnlessPermitted(ports, person, permission, organizationId);
  if (refusal) return refusal;
  return (await isConfirmed(ports, person.sessionId, person.id)) ? undefined : refusals.confirmationRequired;
}

/** Whether the person has entered a password or code recently. */
export async function isConfirmed(
  ports: Pick<PeoplePorts, 'sessions' | 'clock'>,
  sessionId: string,
  memberId: string,
): Promise<boolean> {
  const confirmedAt = await ports.sessions.findConfirmation(sessionId, memberId);
  return confirmedAt !== undefined && ports.clock.now() - confirmedAt < CONFIRMATION_MS;
}

export interface ConfirmSession extends FromSession {
  readonly password?: string | undefined;
  readonly code?: string | undefined;
}

/** Confirms the session by the password or a code of the second factor. */
export async function confirmSession(
  ports: OwnAccountPorts & SecondFactorPorts,
  { password, code, ...from }: ConfirmSession,
): Promise<AdminRefusal | undefined> {
  const signedIn = await ownAccount(ports, from);
  if (isRefusal(signedIn)) return signedIn;
  const { member, session } = signedIn;
  if (password !== undefined) {
    const account = await ownAccountByPassword(ports, from, password);
    if (isRefusal(account)) return account;
  } else if (hasSecondFactor(member)) {
    const refusal = await refuseSecondFactor(ports, member, code);
    if (refusal) return refusal;
  } else if (member.passwordHash === undefined) {
    return conflict('This account has no password and no second factor. Sign in again by single sign-on.');
  } else {
    return refusals.wrongPassword;
  }
  await ports.sessions.recordConfirmation(session.id, ports.clock.now());
  return undefined;
}
