import type { UnixMs } from '@gateway/base';
import type { EndedSessions, NewSession } from '../../core/model';
import type { AuthTransaction } from './client';
import type { Prisma } from './generated/client';
import { appendInvalidation } from './invalidations';
import { sessionRow } from './rows';

/**
 * Ends sessions, and with them the keys that were made for them. Call it last,
 * as `appendInvalidation` asks.
 */
export async function endSessions(
  transaction: AuthTransaction,
  where: Prisma.SessionWhereInput,
  at: UnixMs,
): Promise<EndedSessions> {
  const sessions = await transaction.session.findMany({ where, select: { id: true } });
  const ids = sessions.map(({ id }) => id);
  const { count: ended } = await transaction.session.deleteMany({ where: { id: { in: ids } } });
  return { ended, sequence: await endKeys(transaction, { sessionId: { in: ids } }, at) };
}

/** Whoever opens a session has been seen. */
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
}

/** Ends all sessions of a member and opens this one, if any. Call it last. */
export async function replaceSessions(
  transaction: AuthTransaction,
  memberId: string,
  at: UnixMs,
  opened?: NewSession,
): Promise<void> {
  if (opened) await insertSession(transaction, opened);
  const others = opened ? { id: { not: opened.session.id } } : {};
  await endSessions(transaction, { memberId, ...others }, at);
}

/** Revokes keys that are made for sessions, and tells edges. Call it last. */
export async function endKeys(
  transaction: AuthTransaction,
  where: Prisma.ApiKeyWhereInput,
  at: UnixMs,
): Promise<bigint | undefined> {
  const rows = await transaction.apiKey.findMany({
    where: { ...where, revokedAt: null },
    select: { id: true, sha256: true, previousSha256: true },
  });
  if (rows.length === 0) return undefined;
  await transaction.apiKey.updateMany({
    where: { id: { in: rows.map(({ id }) => id) } },
    data: { revokedAt: new Date(at), version: { increment: 1 } },
  });
  let sequence: bigint | undefined;
  for (const { sha256, previousSha256 } of rows) {
    if (previousSha256) await appendInvalidation(transaction, { keySha256: previousSha256 });
    sequence = await appendInvalidation(transaction, { keySha256: sha256 });
  }
  return sequence;
}
