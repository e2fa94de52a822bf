import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { refuseUnlessPermitted } from '../access/authorize';
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

/** By the password, which is then the one way to sign in. */
export async function unlinkOwnIdentity(
  ports: UnlinkPorts & OwnAccountPorts,
  { issuer, password, ...from }: UnlinkOwn,
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const signedIn = await ownAccount(ports, from);
  if (isRefusal(signedIn)) return signedIn;
  if (signedIn.member.passwordHash === undefined) return noOtherWay;
  const self = await ownAccountByPassword(ports, from, password);
  if (isRefusal(self)) return self;
  const { member, session, actor } = self;
  return unlink(ports, { actor, member, issuer, keptSessionId: session.id }, signal);
}

/** Of somebody else, such as who has another identity at the provider by now. */
export async function unlinkIdentity(
  ports: UnlinkPorts & Pick<PeoplePorts, 'members' | 'memberships'>,
  { actor, memberId, issuer }: { readonly actor: Actor; readonly memberId: string; readonly issuer: string },
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const refusal = await refuseUnlessPermitted(ports, actor, 'platform:people');
  if (refusal) return refusal;
  const member = isIdLike(memberId) ? await ports.members.find(memberId) : undefined;
  if (!member) return notFound('member');
  if (member.passwordHash === undefined) return noOtherWay;
  return unlink(ports, { actor, member, issuer }, signal);
}

// A password is never taken away, so whoever has one when this is asked still has it afterwards.
const noOtherWay = conflict(
  'Without it there is no way to sign in: the account has no password. Choose one by a reset link first.',
);

interface Unlinking {
  readonly actor: Actor;
  readonly member: Member;
  readonly issuer: string;
  readonly keptSessionId?: string;
}

async function unlink(
  ports: UnlinkPorts,
  { actor, member, ...which }: Unlinking,
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const { id: target, email } = member;
  const details = { email, issuer: which.issuer };
  const audit = auditOf({ actor, action: 'member.unlink_identity', target, details }, ports);
  const ended = await ports.identities.unlink({ memberId: target, ...which, audit });
  if (!ended) return notFound('identity');
  if (ended.sequence !== undefined) await awaitEdges(ports, ended.sequence, signal);
  return undefined;
}
