import type { KafkaConnection } from '@gateway/events/kafka';
import { z } from 'zod';

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
    .describe('Replication factor of the topics that the gateway creates. Default: that of the brokers.'),
};

export type KafkaSettings = z.output<z.ZodObject<typeof kafkaSettings>>;

/** The options of `createKafkaEventLog` from the settings. */
export function kafkaOptionsOf(settings: KafkaSettings) {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = settings;
  const connection: KafkaConnection = {
    brokers: settings.KAFKA_BROKERS,
    ssl: settings.KAFKA_TLS === 'true',
    // The types of the mechanisms differ only in their name.
    ...(mechanism && {
      sasl: { mechanism, username: username ?? '', password: password ?? '' } as KafkaConnection['sasl'],
    }),
  };
  return {
    connection,
    partitions: settings.KAFKA_PARTITIONS,
    ...(settings.KAFKA_REPLICATION_FACTOR !== undefined && {
      replicationFactor: settings.KAFKA_REPLICATION_FACTOR,
    }),
  };
}
