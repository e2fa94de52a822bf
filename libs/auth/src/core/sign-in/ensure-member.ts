import { auditOf } from '../audit/audit';
import { requireEmail, requirePassword } from './member-rules';
import type { Actor, Member, MemberRole } from '../model';
import type { AuthPorts } from '../ports';

export interface EnsureMember {
  readonly actor: Actor;
  readonly email: string;
  readonly password: string;
  readonly role: MemberRole;
  /** Also set the password, and end all sessions, when the member exists. */
  readonly resetPassword: boolean;
}

export interface EnsuredMember {
  readonly member: Member;
  readonly created: boolean;
}

/** Creates the member or, when the email exists, leaves it unchanged but for a password reset. */
export async function ensureMember(
  ports: Pick<AuthPorts, 'members' | 'passwords' | 'clock' | 'newId'>,
  { actor, email: requestedEmail, password: requestedPassword, role, resetPassword }: EnsureMember,
): Promise<EnsuredMember> {
  const email = requireEmail(requestedEmail);
  const existing = await ports.members.findByEmail(email);
  if (existing && !resetPassword) return { member: memberOf(existing), created: false };

  const passwordHash = await ports.passwords.hash(requirePassword(requestedPassword));
  if (!existing) {
    const member: Member = { id: ports.newId('mem'), email, role };
    const details = { email, role };
    const audit = auditOf({ actor, action: 'member.create', target: member.id, details }, ports);
    const inserted = await ports.members.insert({ ...member, passwordHash }, ports.clock.now(), audit);
    if (inserted) return { member, created: true };
  }
  // Found at first, or created by another process in between.
  const member = existing ?? (await ports.members.findByEmail(email));
  if (!member) throw new Error('a member that exists was not found');
  if (resetPassword) {
    const audit = auditOf(
      { actor, action: 'member.reset_password', target: member.id, details: { email } },
      ports,
    );
    await ports.members.setPassword(member.id, passwordHash, audit);
  }
  return { member: memberOf(member), created: false };
}

function memberOf({ id, email, role }: Member): Member {
  return { id, email, role };
}
