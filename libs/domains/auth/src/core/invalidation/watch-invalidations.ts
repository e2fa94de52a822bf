import type { CancelSignal } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import type { AuthPorts } from '../ports';
import type { Invalidation } from '@gateway/auth-shared';

const MAX_EDGE_ID_CHARACTERS = 100;

type WatchPorts = Pick<AuthPorts, 'leases' | 'feed' | 'newId' | 'settings'>;

/**
 * The cache entries that an edge must evict, until `signal` aborts. The first
 * invalidation evicts everything.
 */
export async function* watchInvalidations(
  { leases, feed, newId, settings }: WatchPorts,
  edgeId: string,
  signal: CancelSignal,
): AsyncGenerator<Invalidation> {
  checkEdgeId(edgeId);
  const watchId = newId('watch');
  let sequence = await leases.open(edgeId, watchId, settings.leaseMs);
  try {
    yield { sequence, target: { kind: 'all' } };
    for (;;) {
      const invalidations = await feed.after(sequence, signal);
      if (invalidations.length === 0) return;
      for (const invalidation of invalidations) {
        yield invalidation;
        sequence = invalidation.sequence;
      }
    }
  } finally {
    // The edge may not know yet that its watch has ended. Its lease remains until
    // it expires, but the next renewal returns 0, so the edge opens a new watch.
    await leases.close(edgeId, watchId);
  }
}

/** The remaining milliseconds of the lease, measured from when the edge sent the call; 0: it must open a new watch. */
export async function renewLease(
  { leases, settings }: Pick<AuthPorts, 'leases' | 'settings'>,
  edgeId: string,
  acknowledgedSequence: bigint,
): Promise<number> {
  checkEdgeId(edgeId);
  return leases.renew(edgeId, acknowledgedSequence, settings.leaseMs);
}

function checkEdgeId(edgeId: string): void {
  if (edgeId.length > MAX_EDGE_ID_CHARACTERS || !/^[\x21-\x7e]+$/.test(edgeId)) {
    throw new GatewayError('invalid_request', {
      message: `edge_id must be 1 to ${MAX_EDGE_ID_CHARACTERS} printable characters.`,
      param: 'edge_id',
    });
  }
}
