import type { CancelSignal } from '@gateway/base';
import { auditOf, type Actor, type Member, type MemberRole } from '@gateway/auth-shared';
import { requireEmail, requirePassword } from './member-rules';
import type { PeoplePorts } from '../ports';
import type { StoredMember } from '../ports';
import { awaitRevocation } from './sessions';

export interface EnsureMember {
  readonly actor: Actor;
  readonly email: string;
  readonly password: string;
  readonly role: MemberRole;
  /** If the member exists, set the password and end all sessions. */
  readonly resetPassword: boolean;
}

export interface EnsuredMember {
  readonly member: Member;
  readonly created: boolean;
  /** Changes with the stored password. */
  readonly passwordVersion: string;
}

/** Creates the member. If the email exists, changes nothing except for a requested password reset. */
export async function ensureMember(
  ports: Pick<PeoplePorts, 'members' | 'passwords' | 'leases' | 'feed' | 'clock' | 'newId'>,
  { actor, email: requestedEmail, password: requestedPassword, role, resetPassword }: EnsureMember,
  signal: CancelSignal,
): Promise<EnsuredMember> {
  const ensured = (
    { id, email, name, role, passwordHash }: StoredMember,
    created: boolean,
  ): EnsuredMember => ({
    member: { id, email, name, role },
    created,
    passwordVersion: passwordHash === undefined ? '' : ports.passwords.versionOf(passwordHash),
  });

  const email = requireEmail(requestedEmail);
  const existing = await ports.members.findByEmail(email);
  if (existing && !resetPassword) return ensured(existing, false);

  const passwordHash = await ports.passwords.hash(requirePassword(requestedPassword));
  if (!existing) {
    const member: StoredMember = {
      ...{ id: ports.newId('mem'), email, name: '', role },
      ...{ disabled: false, timeZone: '', passwordHash },
    };
    const details = { email, role };
    const audit = auditOf({ actor, action: 'member.create', target: member.id, details }, ports);
    if (await ports.members.insert(member, ports.clock.now(), audit)) return ensured(member, true);
  }
  // Found above, or created by another process meanwhile.
  const member = existing ?? (await ports.members.findByEmail(email));
  if (!member) throw new Error('an existing member was not found');
  if (!resetPassword) return ensured(member, false);
  const details = { email };
  const audit = auditOf({ actor, action: 'member.reset_password', target: member.id, details }, ports);
  const ended = await ports.members.setPassword(member.id, passwordHash, audit);
  if (ended) await awaitRevocation(ports, ended, signal);
  return ensured({ ...member, passwordHash }, false);
}
