import { isIP } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import type { DatabaseLog } from '@gateway/database';
import { Kafka, logLevel, type ISocketFactory, type KafkaConfig, type LogEntry } from 'kafkajs';
import { patchRequestQueue } from './patch-request-queue';

/** PEM files. */
export type KafkaCertificates = Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>;

/** The connection settings of the brokers. */
export interface KafkaConnection extends Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl' | 'socketFactory'> {
  /** With TLS: the brokers' certificate authority, and a client certificate. Read at each connection. */
  readonly certificates?: () => KafkaCertificates;
}

const CONNECTION_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_DELAY_MS = 60_000;
/** Short, because callers have their own retry policies. */
const RETRY = { initialRetryTime: 50, maxRetryTime: 500, retries: 3 };

export function connectKafka(connection: KafkaConnection, clientId: string, log: DatabaseLog): Kafka {
  patchRequestQueue();
  const { certificates, ...rest } = connection;
  return new Kafka({
    ...rest,
    ...(certificates !== undefined && { ssl: true, socketFactory: tlsSockets(certificates) }),
    clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => logEntry(entry, log),
  });
}

/** Reads the certificates at each connection, so that renewed ones need no restart. */
function tlsSockets(certificates: () => KafkaCertificates): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const serverName = isIP(host) ? {} : { servername: host };
    const socket = connect({ host, port, ...serverName, ...certificates() }, onConnect);
    return socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
  };
}

/** Logs messages of the client at debug level; relevant errors are logged by this library. */
function logEntry({ namespace, log: { message, ...details } }: LogEntry, log: DatabaseLog): void {
  const { error, broker, groupId } = details as { error?: unknown; broker?: unknown; groupId?: unknown };
  log.debug({ kafka: namespace, error, broker, groupId }, message);
}
