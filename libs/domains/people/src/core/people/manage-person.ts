import type { CancelSignal } from '@gateway/base';
import {
  auditOf,
  awaitEdges,
  conflict,
  isIdLike,
  notFound,
  type Actor,
  type AdminRefusal,
  type EndedSessions,
} from '@gateway/auth-shared';
import { isRefusal } from '@gateway/errors';
import { notifyPerson, type Notice } from '../email/notify-person';
import type { PeoplePorts, StoredMember } from '../ports';
import { hasSecondFactor } from '../sign-in/second-factor';
import { changeMember } from './change-member';

type ManagePorts = Pick<
  PeoplePorts,
  | 'members'
  | 'memberships'
  | 'managementTokens'
  | 'sessions'
  | 'secondFactors'
  | 'mailer'
  | 'background'
  | 'leases'
  | 'feed'
  | 'clock'
  | 'newId'
>;

interface OfPerson {
  readonly actor: Actor;
  readonly memberId: string;
}

/** Removes a lost second factor and ends all sessions. The person signs in with the password and sets up a new one. */
export async function resetSecondFactor(
  ports: ManagePorts,
  { actor, memberId }: OfPerson,
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const member = await personToManage(ports, actor, memberId);
  if (isRefusal(member)) return member;
  if (!hasSecondFactor(member)) return conflict('Two-factor authentication is not enabled.');
  const audit = auditOfPerson(ports, actor, member, 'member.reset_second_factor');
  return finish(
    ports,
    member,
    'second_factor_reset',
    await ports.secondFactors.reset(memberId, audit),
    signal,
  );
}

/** A disabled person has no session and cannot sign in. Memberships and keys of organizations stay. */
export async function setDisabled(
  ports: ManagePorts,
  { actor, memberId, disabled }: OfPerson & { readonly disabled: boolean },
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const member = await personToManage(ports, actor, memberId);
  if (isRefusal(member)) return member;
  const changed = await changeMember(ports, { actor, memberId }, (current) => {
    if (current.disabled === disabled) return { kind: 'unchanged', value: current };
    const audit = auditOfPerson(ports, actor, current, disabled ? 'member.disable' : 'member.enable');
    return { kind: 'change', value: { ...current, disabled }, audit };
  });
  if (isRefusal(changed)) return changed;
  return changed.changed
    ? finish(ports, member, disabled ? 'disabled' : 'enabled', changed, signal)
    : undefined;
}

/** Ends all sessions of another person. */
export async function endSessionsOf(
  ports: ManagePorts,
  { actor, memberId }: OfPerson,
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const member = await personToManage(ports, actor, memberId);
  if (isRefusal(member)) return member;
  const ended = await ports.sessions.deleteAll(memberId, (count) =>
    auditOfPerson(ports, actor, member, 'member.end_sessions', { ended: count }),
  );
  if (ended.ended === 0) return undefined;
  return finish(ports, member, 'sessions_ended', ended, signal);
}

/** Operators manage others only, and are operators when a change is written, so none locks out the last one. */
async function personToManage(
  ports: ManagePorts,
  actor: Actor,
  memberId: string,
): Promise<StoredMember | AdminRefusal> {
  if (actor.id === memberId) return conflict('Use your own account page, or ask another operator.');
  const member = isIdLike(memberId) ? await ports.members.find(memberId) : undefined;
  return member ?? notFound('member');
}

function auditOfPerson(
  ports: ManagePorts,
  actor: Actor,
  { id, email }: StoredMember,
  action: string,
  details: object = {},
) {
  return auditOf({ actor, action, target: id, details: { email, ...details } }, ports);
}

/** Resolves once no edge accepts a key of the ended sessions. */
async function finish(
  ports: ManagePorts,
  { email }: StoredMember,
  notice: Notice,
  { sequence }: EndedSessions,
  signal: CancelSignal,
): Promise<undefined> {
  notifyPerson(ports, email, notice);
  if (sequence !== undefined) await awaitEdges(ports, sequence, signal);
  return undefined;
}
