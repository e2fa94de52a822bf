import type { KafkaConnection } from '@gateway/events/kafka';
import { ConfigError } from '@gateway/runtime';
import { z } from 'zod';
import { readKafkaCertificates } from './kafka-certificates';

const MAX_PARTITIONS = 1_024;
const broker = /^[^\s,:]+:\d{1,5}$/;

/** Settings of each service that writes or reads the event log. */
export const kafkaSettings = {
  KAFKA_BROKERS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((brokers) => brokers.every((each) => broker.test(each)), {
      error: 'must be host:port, separated by commas',
    })
    .describe('Bootstrap brokers: `host:port`, several separated by commas.'),
  KAFKA_TLS: z.enum(['true', 'false']).default('false').describe('Whether to use TLS to the brokers.'),
  KAFKA_TLS_DIR: z
    .string()
    .optional()
    .describe(
      'Folder for TLS to the brokers: `ca.crt` with their certificate authority, and `tls.crt` and `tls.key` for a client certificate. Read at each connection. Default: the public authorities, without a client certificate.',
    ),
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .optional()
    .describe('SASL mechanism: `plain`, `scram-sha-256` or `scram-sha-512`. Default: no SASL.'),
  KAFKA_USERNAME: z.string().optional().describe('User for SASL.'),
  KAFKA_PASSWORD: z.string().optional().describe('Password for SASL.'),
  KAFKA_PARTITIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_PARTITIONS)
    .default(12)
    .describe(
      'Partitions of the topics that the gateway creates: the most replicas of one consumer that can share the work. It cannot be lowered later.',
    ),
  KAFKA_REPLICATION_FACTOR: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Replication factor of the topics that the gateway creates; existing ones with a lower one are reported. 3 in production. Default: that of the brokers.',
    ),
  KAFKA_MIN_INSYNC_REPLICAS: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'In-sync replicas that must store an event before it is acknowledged (`min.insync.replicas`), for the topics that the gateway creates; existing ones with a lower number are reported. 2 in production: no acknowledged event is lost with one broker. Default: that of the brokers.',
    ),
};

export type KafkaSettings = z.output<z.ZodObject<typeof kafkaSettings>>;

/** The options of `createKafkaEventLog` from the settings. */
export function kafkaOptionsOf(settings: KafkaSettings) {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = settings;
  const { KAFKA_REPLICATION_FACTOR: replicationFactor, KAFKA_MIN_INSYNC_REPLICAS: minInsyncReplicas } =
    settings;
  const tlsFolder = tlsFolderOf(settings);
  if (mechanism !== undefined && (!username || !password)) {
    throw new ConfigError(['KAFKA_SASL_MECHANISM: requires KAFKA_USERNAME and KAFKA_PASSWORD']);
  }
  if (
    replicationFactor !== undefined &&
    minInsyncReplicas !== undefined &&
    minInsyncReplicas > replicationFactor
  ) {
    throw new ConfigError(['KAFKA_MIN_INSYNC_REPLICAS: must not exceed KAFKA_REPLICATION_FACTOR']);
  }
  const connection: KafkaConnection = {
    brokers: settings.KAFKA_BROKERS,
    ssl: settings.KAFKA_TLS === 'true',
    ...(tlsFolder !== undefined && { certificates: () => readKafkaCertificates(tlsFolder) }),
    // The types of the mechanisms differ only in their name.
    ...(mechanism && {
      sasl: { mechanism, username, password } as KafkaConnection['sasl'],
    }),
  };
  return {
    connection,
    partitions: settings.KAFKA_PARTITIONS,
    ...(replicationFactor !== undefined && { replicationFactor }),
    ...(minInsyncReplicas !== undefined && { minInsyncReplicas }),
  };
}

/** @throws ConfigError when the folder is given without TLS, or cannot be read. */
function tlsFolderOf({ KAFKA_TLS: tls, KAFKA_TLS_DIR: folder }: KafkaSettings): string | undefined {
  if (folder === undefined) return undefined;
  if (tls !== 'true') throw new ConfigError(['KAFKA_TLS_DIR: requires KAFKA_TLS=true']);
  try {
    readKafkaCertificates(folder);
  } catch (error) {
    throw new ConfigError([`KAFKA_TLS_DIR: ${error instanceof Error ? error.message : String(error)}`]);
  }
  return folder;
}
