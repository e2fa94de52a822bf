import { createSilentLogger } from '@gateway/runtime';
import type { Kafka, Message, ProducerConfig } from 'kafkajs';
import type { Write } from '../delivery/batching-appender';
import { createKafkaWriter, KafkaUnavailableError } from './kafka-writer';

const TOPIC = 'topic';
const PARTITIONS = [0, 1, 2];

/** A producer that acknowledges these partitions only. */
function kafkaThatAcknowledges(acknowledged: readonly number[]): Kafka {
  const producer = ({ createPartitioner }: ProducerConfig) => ({
    connect: async () => undefined,
    disconnect: async () => undefined,
    send: async ({ messages }: { messages: readonly Message[] }) => {
      const choose = createPartitioner?.();
      const partitionMetadata = PARTITIONS.map((partitionId) => ({
        partitionId,
        ...{ partitionErrorCode: 0, leader: 1, replicas: [1], isr: [1] },
      }));
      for (const message of messages) choose?.({ topic: TOPIC, partitionMetadata, message });
      return acknowledged.map((partition) => ({ topicName: TOPIC, partition, errorCode: 0 }));
    },
  });
  return { producer } as unknown as Kafka;
}

function write(acknowledged: readonly number[]): Promise<void> {
  const writer = createKafkaWriter(
    {
      kafka: kafkaThatAcknowledges(acknowledged),
      topics: { ensure: async () => undefined, stop: async () => undefined },
      log: createSilentLogger(),
    },
    { writeTimeoutMs: 10_000, failFastMs: 0 },
  );
  const events = Array.from({ length: 30 }, (_, index) => ({
    ...{ topic: TOPIC, key: `key-${index}`, payload: Buffer.from('x'), headers: {} },
  }));
  return writer.write({ topic: TOPIC, events } as unknown as Write);
}

it('succeeds when every partition of the write is acknowledged', async () => {
  await expect(write(PARTITIONS)).resolves.toBeUndefined();
});

it('fails when kafkajs has dropped a partition whose leader moved', async () => {
  await expect(write([0, 2])).rejects.toThrow(KafkaUnavailableError);
});
