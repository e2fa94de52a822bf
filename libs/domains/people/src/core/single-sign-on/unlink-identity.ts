import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import {
  conflict,
  notFound,
  type AdminRefusal,
  auditOf,
  awaitEdges,
  type Actor,
  type Member,
  isIdLike,
} from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import {
  ownAccount,
  ownAccountByPassword,
  type FromSession,
  type OwnAccountPorts,
} from '../sign-in/own-account';

type UnlinkPorts = Pick<PeoplePorts, 'identities' | 'leases' | 'feed' | 'clock' | 'newId'>;

export interface UnlinkOwn extends FromSession {
  readonly password: string;
  readonly issuer: string;
}

/** Requires the password, which is the only way to sign in afterwards. */
export async function unlinkOwnIdentity(
  ports: UnlinkPorts & OwnAccountPorts,
  { issuer, password, ...from }: UnlinkOwn,
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const signedIn = await ownAccount(ports, from);
  if (isRefusal(signedIn)) return signedIn;
  if (signedIn.member.passwordHash === undefined) return noPassword;
  const account = await ownAccountByPassword(ports, from, password);
  if (isRefusal(account)) return account;
  const { member, session, actor } = account;
  return unlink(ports, { actor, member, issuer, keptSessionId: session.id }, signal);
}

/** Unlinks another member's identity, for example after it changed at the provider. */
export async function unlinkIdentity(
  ports: UnlinkPorts & Pick<PeoplePorts, 'members'>,
  { actor, memberId, issuer }: { readonly actor: Actor; readonly memberId: string; readonly issuer: string },
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const member = isIdLike(memberId) ? await ports.members.find(memberId) : undefined;
  if (!member) return notFound('member');
  if (member.passwordHash === undefined) return noPassword;
  return unlink(ports, { actor, member, issuer }, signal);
}

// Passwords are never removed, so a member who has one at this check still has it afterwards.
const noPassword = conflict(
  'This account has no password, so this identity is its only way to sign in. Set a password with a reset link first.',
);

interface Unlinking {
  readonly actor: Actor;
  readonly member: Member;
  readonly issuer: string;
  readonly keptSessionId?: string;
}

async function unlink(
  ports: UnlinkPorts,
  { actor, member, ...unlinking }: Unlinking,
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const { id: target, email } = member;
  const details = { email, issuer: unlinking.issuer };
  const audit = auditOf({ actor, action: 'member.unlink_identity', target, details }, ports);
  const ended = await ports.identities.unlink({ memberId: target, ...unlinking, audit });
  if (!ended) return notFound('identity');
  if (ended.sequence !== undefined) await awaitEdges(ports, ended.sequence, signal);
  return undefined;
}
