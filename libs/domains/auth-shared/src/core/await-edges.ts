import { type CancelSignal, throwIfAborted } from '@gateway/base';
import type { EdgeLeases, InvalidationFeed } from './invalidations';

/** Upper bound on the delay when the notification of an acknowledgement is lost. */
const MAX_WAIT_MS = 250;

/**
 * Resolves once no edge can act on state older than `sequence`: each edge has
 * acknowledged it, or its lease has expired. Leases are not extended past an
 * unacknowledged invalidation, so this takes at most one lease length.
 * Rejects when `signal` aborts; the committed change remains.
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
