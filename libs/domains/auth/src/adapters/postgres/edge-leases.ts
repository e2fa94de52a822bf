import type { Pool } from 'pg';
import type { EdgeLeases } from '@gateway/auth-shared';
import { ACKNOWLEDGEMENTS_CHANNEL } from '@gateway/auth-shared/adapters';

/**
 * Reads the counter in the statement that registers the edge. A revocation that
 * commits later finds the edge's row and waits for it. A revocation that commits
 * earlier is visible to every lookup that the edge makes after the watch's first
 * message.
 */
const OPEN = `
  insert into edge_leases as lease (edge_id, watch_id, watch_open, acknowledged_sequence, expires_at)
  select $1, $2, true, last, clock_timestamp() + $3 * interval '1 millisecond' from invalidation_counter
  on conflict (edge_id) do update set
    watch_id = excluded.watch_id,
    watch_open = true,
    acknowledged_sequence = excluded.acknowledged_sequence,
    expires_at = greatest(lease.expires_at, excluded.expires_at)
  returning acknowledged_sequence as sequence`;

const CLOSE = `update edge_leases set watch_open = false where edge_id = $1 and watch_id = $2`;

/**
 * Extends a lease to its full length from now, but never further than one lease
 * length past the oldest unacknowledged invalidation. So an edge that renews
 * without receiving invalidations delays a revocation by at most one lease. An
 * expired lease is never resumed, since a revocation may have relied on its
 * expiry. Neither is one with a later sequence than the last: the database has lost
 * it, and its number will be that of another invalidation. Notifies only when the
 * acknowledged sequence has advanced.
 */
const RENEW = `
  with previous as (
    select edge_id, acknowledged_sequence, $2::bigint as acknowledged
    from edge_leases
    where edge_id = $1 and watch_open and expires_at > clock_timestamp()
      and $2::bigint <= (select last from invalidation_counter)
    for update
  ), renewed as (
    update edge_leases lease set
      acknowledged_sequence = greatest(lease.acknowledged_sequence, acknowledged),
      expires_at = greatest(
        lease.expires_at,
        least(
          clock_timestamp(),
          (select i.created_at from invalidations i where i.sequence > acknowledged order by i.sequence limit 1)
        ) + $3 * interval '1 millisecond'
      )
    from previous
    where lease.edge_id = previous.edge_id
    returning
      lease.acknowledged_sequence > previous.acknowledged_sequence as advanced,
      extract(epoch from lease.expires_at - clock_timestamp()) * 1000 as remaining_ms
  )
  select
    floor(remaining_ms)::int as remaining_ms,
    case when advanced then pg_notify('${ACKNOWLEDGEMENTS_CHANNEL}', '')::text end
  from renewed`;

const UNACKNOWLEDGED = `
  select ceil(extract(epoch from max(expires_at) - clock_timestamp()) * 1000)::int as remaining_ms
  from edge_leases
  where acknowledged_sequence < $1 and expires_at > clock_timestamp()`;

/** Leases in PostgreSQL, measured by the database's clock. */
export function createPostgresEdgeLeases(pool: Pool): EdgeLeases {
  return {
    async open(edgeId, watchId, leaseMs) {
      const { rows } = await pool.query<{ sequence: bigint }>(OPEN, [edgeId, watchId, leaseMs]);
      const sequence = rows[0]?.sequence;
      if (sequence === undefined) throw new Error('the invalidation counter is missing');
      return sequence;
    },

    async close(edgeId, watchId) {
      await pool.query(CLOSE, [edgeId, watchId]);
    },

    async renew(edgeId, acknowledgedSequence, leaseMs) {
      const { rows } = await pool.query<{ remaining_ms: number }>({
        name: 'auth_renew_lease',
        text: RENEW,
        values: [edgeId, acknowledgedSequence, leaseMs],
      });
      return Math.max(0, Math.min(rows[0]?.remaining_ms ?? 0, leaseMs));
    },

    async unacknowledgedForMs(sequence) {
      const { rows } = await pool.query<{ remaining_ms: number | null }>(UNACKNOWLEDGED, [sequence]);
      const remainingMs = rows[0]?.remaining_ms;
      return typeof remainingMs === 'number' ? Math.max(1, remainingMs) : 0;
    },
  };
}
