import { type CancelSignal, throwIfAborted } from '@gateway/base';
import type { EdgeLeases, InvalidationFeed } from './invalidations';

/** An acknowledgement whose notice was lost is seen this late at worst. */
const MAX_WAIT_MS = 250;

/**
 * Resolves once no edge can still answer from before `sequence`: each has
 * acknowledged it, or its lease has run out. Leases are not extended past an
 * unacknowledged invalidation, so this takes one lease length at most.
 * Rejects when `signal` aborts; what was committed stays committed.
 */
export async function awaitEdges(
  { leases, feed }: { leases: EdgeLeases; feed: InvalidationFeed },
  sequence: bigint,
  signal: CancelSignal,
): Promise<void> {
  for (;;) {
    const remainingMs = await leases.unacknowledgedForMs(sequence);
    if (remainingMs === 0) return;
    throwIfAborted(signal);
    await feed.acknowledged(Math.min(remainingMs, MAX_WAIT_MS), signal);
    throwIfAborted(signal);
  }
}
