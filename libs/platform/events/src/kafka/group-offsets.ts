import type { Admin, Kafka } from 'kafkajs';

/** The group's committed offsets by partition. */
export function readCommittedOffsets(
  kafka: Kafka,
  topic: string,
  groupId: string,
): Promise<Map<number, bigint>> {
  return withAdmin(kafka, async (admin) => {
    const [read] = await admin.fetchOffsets({ groupId, topics: [topic] });
    const committed = (read?.partitions ?? []).map(
      ({ partition, offset }) => [partition, BigInt(offset)] as const,
    );
    // kafkajs commits a negative offset to start at the first one.
    return new Map(committed.filter(([, offset]) => offset >= 0n));
  });
}

/** The first offset of each partition, and the one after the last. */
export function readOffsetRanges(
  kafka: Kafka,
  topic: string,
): Promise<Map<number, { readonly first: bigint; readonly end: bigint }>> {
  return withAdmin(kafka, async (admin) => {
    const ranges = await admin.fetchTopicOffsets(topic);
    return new Map(
      ranges.map(({ partition, low, high }) => [partition, { first: BigInt(low), end: BigInt(high) }]),
    );
  });
}

/** Events of the topic after the group's committed offsets. */
export async function countWaitingEvents(kafka: Kafka, topic: string, groupId: string): Promise<number> {
  const ranges = await readOffsetRanges(kafka, topic);
  const committed = await readCommittedOffsets(kafka, topic, groupId);
  let waiting = 0;
  for (const [partition, { first, end }] of ranges) {
    const next = committed.get(partition) ?? first;
    waiting += Math.max(0, Number(end - (next < first ? first : next)));
  }
  return waiting;
}

async function withAdmin<Result>(kafka: Kafka, work: (admin: Admin) => Promise<Result>): Promise<Result> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}
