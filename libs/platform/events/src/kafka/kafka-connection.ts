import type { DatabaseLog } from '@gateway/database';
import { Kafka, logLevel, type KafkaConfig, type LogEntry } from 'kafkajs';
import { letRequestQueuesRest } from './resting-request-queue';

/** How brokers are reached. */
export type KafkaConnection = Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl' | 'socketFactory'>;

const CONNECTION_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** Short, since whoever calls has a policy of its own. */
const RETRY = { initialRetryTime: 50, maxRetryTime: 500, retries: 3 };

export function connectKafka(connection: KafkaConnection, clientId: string, log: DatabaseLog): Kafka {
  letRequestQueuesRest();
  return new Kafka({
    ...connection,
    clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => pass(entry, log),
  });
}

/** What the client says of its troubles: for whoever looks closely, since what matters of them is said again here. */
function pass({ namespace, log: { message, ...details } }: LogEntry, log: DatabaseLog): void {
  const { error, broker, groupId } = details as { error?: unknown; broker?: unknown; groupId?: unknown };
  log.debug({ kafka: namespace, error, broker, groupId }, message);
}
