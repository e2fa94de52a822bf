/** What Kafka and the consumer's database have of one partition. */
export interface PartitionOffsets {
  /** The group's committed offset in Kafka. Kafka deletes it with the topic. */
  readonly committed: bigint | undefined;
  /** The next offset whose effects the database does not have. */
  readonly stored: bigint | undefined;
  /** The first offset that Kafka still has. */
  readonly first: bigint;
  /** The offset after the last one. */
  readonly end: bigint;
}

export interface StartOffset {
  /** Where the consumer starts to read. */
  readonly offset: bigint;
  /** The offset that must be stored at the start. */
  readonly stored: bigint;
  /** Events that were committed, but whose effects the database does not have. */
  readonly replayed: bigint;
  /** Events whose effects the database does not have, and that Kafka does not have either. */
  readonly expired: bigint;
}

/**
 * A consumer starts at the lower of the committed and the stored offset: what the database
 * has lost is read again, and what it has is skipped by the handler. Without a committed
 * offset, or with a stored one after the end, the topic or the group is new: the stored
 * offset belongs to an earlier one, and the consumer starts at the beginning.
 */
export function startOffsetOf({ committed, stored, first, end }: PartitionOffsets): StartOffset {
  const isNew = committed === undefined || (stored !== undefined && stored > end);
  const needed = stored ?? (committed === undefined ? first : 0n);
  const expired = needed < first ? first - needed : 0n;
  if (isNew) return { offset: first, stored: first, replayed: 0n, expired };
  const reachable = needed < first ? first : needed;
  const offset = committed < reachable ? committed : reachable;
  return {
    offset: offset < first ? first : offset,
    stored: reachable,
    replayed: committed > reachable ? committed - reachable : 0n,
    expired,
  };
}
