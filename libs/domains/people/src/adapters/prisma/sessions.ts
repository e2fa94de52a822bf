import type { UnixMs } from '@gateway/base';
import type { NewSession } from '../../core/model';
import type { StoredMember } from '../../core/ports';
import type { EndedSessions } from '@gateway/auth-shared';
import { type AuthTransaction, type Prisma, revokeSessionKeys } from '@gateway/auth-shared/adapters';
import { sessionRow } from './rows';

/** Ends sessions and revokes their keys. Call it last, as `appendInvalidation` requires. */
export async function endSessions(
  transaction: AuthTransaction,
  where: Prisma.SessionWhereInput,
  at: UnixMs,
): Promise<EndedSessions> {
  const sessions = await transaction.session.findMany({ where, select: { id: true } });
  const ids = sessions.map(({ id }) => id);
  const { count: ended } = await transaction.session.deleteMany({ where: { id: { in: ids } } });
  return { ended, sequence: await revokeSessionKeys(transaction, { sessionId: { in: ids } }, at) };
}

/**
 * Locks the member until the transaction ends. False: the password, the second factor or the account has changed since
 * it was checked, or the session of the request has ended. A later change waits, and then ends the session that this
 * transaction opens.
 */
export async function lockUnchanged(
  transaction: AuthTransaction,
  { id, passwordHash, totp }: StoredMember,
  sessionId?: string,
): Promise<boolean> {
  const hasSecondFactor = totp?.confirmed ?? false;
  const unchanged = await transaction.$queryRaw<unknown[]>`
    select 1 from members
    where id = ${id} and disabled_at is null and password_hash is not distinct from ${passwordHash ?? null}::text
      and (totp_confirmed_at is not null) = ${hasSecondFactor}
    for no key update`;
  if (unchanged.length === 0) return false;
  return sessionId === undefined || (await transaction.session.count({ where: { id: sessionId } })) > 0;
}

/** The most sessions of a member. The oldest one ends for the next. */
const MAX_SESSIONS = 1_000;

/** Inserts the session, ends the oldest ones above the maximum, and updates when the member was last seen. */
export async function insertSession(
  transaction: AuthTransaction,
  { tokenSha256, session }: Pick<NewSession, 'tokenSha256' | 'session'>,
): Promise<void> {
  const data = { ...sessionRow(session), tokenSha256: Uint8Array.from(tokenSha256) };
  await transaction.session.create({ data });
  await transaction.member.update({
    where: { id: session.member.id },
    data: { lastSeenAt: new Date(session.lastSeenAt) },
  });
  const surplus = await transaction.session.findMany({
    where: { memberId: session.member.id },
    orderBy: { createdAt: 'desc' },
    skip: MAX_SESSIONS,
    select: { id: true },
  });
  if (surplus.length === 0) return;
  await endSessions(transaction, { id: { in: surplus.map(({ id }) => id) } }, session.createdAt);
}

/** Ends all sessions of a member except `opened`, which it inserts. Call it last. */
export async function replaceSessions(
  transaction: AuthTransaction,
  memberId: string,
  at: UnixMs,
  opened?: NewSession,
): Promise<EndedSessions> {
  if (opened) await insertSession(transaction, opened);
  const others = opened ? { id: { not: opened.session.id } } : {};
  return endSessions(transaction, { memberId, ...others }, at);
}
