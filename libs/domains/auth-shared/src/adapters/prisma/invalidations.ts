import type { AuthTransaction } from './client';
import { INVALIDATIONS_CHANNEL } from '../postgres/channels';

/**
 * Appends an invalidation under the next sequence number. Call it last in the
 * transaction: it locks the counter until commit, so that numbers become
 * visible in order.
 */
export async function appendInvalidation(
  transaction: AuthTransaction,
  target: { readonly keySha256: Uint8Array } | { readonly organizationId: string },
): Promise<bigint> {
  const keySha256 = 'keySha256' in target ? target.keySha256 : null;
  const organizationId = 'organizationId' in target ? target.organizationId : null;
  const rows = await transaction.$queryRaw<{ last: bigint }[]>`
    with counted as (
      update invalidation_counter set last = last + 1 returning last
    ), logged as (
      insert into invalidations (sequence, key_sha256, organization_id, created_at)
      select last, ${keySha256}::bytea, ${organizationId}::text, clock_timestamp() from counted
    )
    select last, pg_notify(${INVALIDATIONS_CHANNEL}, last::text)::text from counted`;
  return lastOf(rows);
}

/** The last sequence number that was committed before this statement. */
export async function lastInvalidation(transaction: AuthTransaction): Promise<bigint> {
  return lastOf(await transaction.$queryRaw<{ last: bigint }[]>`select last from invalidation_counter`);
}

function lastOf(rows: readonly { last: bigint }[]): bigint {
  const last = rows[0]?.last;
  if (last === undefined) throw new Error('the invalidation counter is missing');
  return last;
}
