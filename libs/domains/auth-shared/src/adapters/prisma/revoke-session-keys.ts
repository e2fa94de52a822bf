import type { UnixMs } from '@gateway/base';
import type { AuthTransaction } from './client';
import type { Prisma } from './generated/client';
import { appendInvalidation } from './invalidations';

/**
 * Revokes session keys and appends their invalidations. Call it last in the transaction. The keys are locked in the
 * order of their ids, as in every transaction that changes several.
 */
export async function revokeSessionKeys(
  transaction: AuthTransaction,
  where: Prisma.ApiKeyWhereInput,
  at: UnixMs,
): Promise<bigint | undefined> {
  const found = await transaction.apiKey.findMany({
    where: { ...where, revokedAt: null },
    select: { id: true },
  });
  const ids = found.map(({ id }) => id);
  if (ids.length === 0) return undefined;
  await transaction.$queryRaw`
    select 1 from api_keys where id = any(${ids}) order by id for no key update`;
  await transaction.apiKey.updateMany({
    where: { id: { in: ids }, revokedAt: null },
    data: { revokedAt: new Date(at), version: { increment: 1 } },
  });
  // Includes keys that were revoked meanwhile: the response waits for the edges.
  const rows = await transaction.apiKey.findMany({
    where: { id: { in: ids } },
    select: { sha256: true, previousSha256: true },
  });
  let sequence: bigint | undefined;
  for (const { sha256, previousSha256 } of rows) {
    if (previousSha256) await appendInvalidation(transaction, { keySha256: previousSha256 });
    sequence = await appendInvalidation(transaction, { keySha256: sha256 });
  }
  return sequence;
}
