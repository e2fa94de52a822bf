/** A topic has at most this many partitions. */
export const MAX_PARTITIONS = 1_024;

/** A position in the log: unique within the topic, ascending within a partition and thus within a key. */
export function positionOf(partition: number, offset: string): bigint {
  return BigInt(offset) * BigInt(MAX_PARTITIONS) + BigInt(partition);
}

/** The partition of a position, and the offset after it. */
export function afterPosition(position: bigint): { readonly partition: number; readonly offset: string } {
  const partitions = BigInt(MAX_PARTITIONS);
  return { partition: Number(position % partitions), offset: String(position / partitions + 1n) };
}

/** The offset of the event. */
export function offsetOf(position: bigint): string {
  return String(position / BigInt(MAX_PARTITIONS));
}
