import type { UnixMs } from '@gateway/base';
import type { AuthTransaction } from './client';
import type { Prisma } from './generated/client';
import { appendInvalidation } from './invalidations';

/** Revokes session keys and appends their invalidations. Call it last in the transaction. */
export async function revokeSessionKeys(
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
