import type { CancelSignal } from '@gateway/base';
import { COMMAND_LINE_ACTOR as actor, type AdminRefusal } from '@gateway/auth-shared';
import { isRefusal } from '@gateway/errors';
import { ensureMember } from '../sign-in/ensure-member';
import { createPasswordResetLink, type PasswordResetLink } from '../sign-in/password-reset';
import { setOperator } from './set-operator';

type GrantPorts = Parameters<typeof ensureMember>[0] &
  Parameters<typeof setOperator>[0] &
  Parameters<typeof createPasswordResetLink>[0];

export interface GrantOperator {
  readonly email: string;
  /** The dashboard's origin, for the link. */
  readonly dashboardUrl: string;
}

/**
 * Grants the operator role, for the first operator or to restore access. Existing sessions and two-factor authentication
 * are kept. For a person at auth's own command line.
 *
 * @returns a link to choose a password.
 */
export async function grantOperator(
  ports: GrantPorts,
  { email, dashboardUrl }: GrantOperator,
  signal: CancelSignal,
): Promise<PasswordResetLink | AdminRefusal> {
  // The initial password is never shown.
  const password = ports.secrets.random();
  const wanted = { actor, email, password, role: 'operator' as const, resetPassword: false };
  const { member } = await ensureMember(ports, wanted, signal);
  if (member.role !== 'operator') {
    const changed = await setOperator(ports, { actor, memberId: member.id, operator: true }, signal);
    if (isRefusal(changed)) return changed;
  }
  return createPasswordResetLink(ports, { actor, memberId: member.id, dashboardUrl });
}
