import type { DatabaseLog } from '@gateway/database';
import { Kafka, logLevel, type KafkaConfig, type LogEntry } from 'kafkajs';
import { patchRequestQueue } from './patch-request-queue';

/** The connection settings of the brokers. */
export type KafkaConnection = Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl' | 'socketFactory'>;

const CONNECTION_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** Short, because callers have their own retry policies. */
const RETRY = { initialRetryTime: 50, maxRetryTime: 500, retries: 3 };

export function connectKafka(connection: KafkaConnection, clientId: string, log: DatabaseLog): Kafka {
  patchRequestQueue();
  return new Kafka({
    ...connection,
    clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => logEntry(entry, log),
  });
}

/** Logs messages of the client at debug level; relevant errors are logged by this library. */
function logEntry({ namespace, log: { message, ...details } }: LogEntry, log: DatabaseLog): void {
  const { error, broker, groupId } = details as { error?: unknown; broker?: unknown; groupId?: unknown };
  log.debug({ kafka: namespace, error, broker, groupId }, message);
}
