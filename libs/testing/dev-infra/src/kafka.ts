import type { TestServer } from './describe-with';
import { startKafkaContainer } from './kafka-container';
import { localKafka, startLocalKafka } from './kafka-process';
import type { KafkaServer, KafkaServerOptions } from './kafka-server';
import { engineMode, runsInDocker } from './test-engines';

/** Suites that configure, pause or kill their own broker. */
export const kafka: TestServer = {
  name: 'Kafka',
  installHint: `Start Docker. Or: ${localKafka.installHint}`,
  isAvailable: () => runsInDocker('kafka') || (engineMode() !== 'docker' && localKafka.isAvailable()),
};

const brokersInEnvironment = (): string | undefined => process.env['TEST_KAFKA_BROKERS'] || undefined;

/** Suites that only need a broker. */
export const kafkaBroker: TestServer = {
  ...kafka,
  installHint: `Set TEST_KAFKA_BROKERS. Or: ${kafka.installHint}`,
  isAvailable: () => brokersInEnvironment() !== undefined || kafka.isAvailable(),
};

/** Starts one broker that is also its controller: in Docker where it responds, else of this machine. */
export function startKafka(options: KafkaServerOptions = {}): Promise<KafkaServer> {
  return runsInDocker('kafka') ? startKafkaContainer(options) : startLocalKafka(options);
}

/** The brokers of TEST_KAFKA_BROKERS, which may hold topics and records of others, else a new one. */
export async function provideKafka(): Promise<Pick<KafkaServer, 'broker' | 'stop'>> {
  const broker = brokersInEnvironment();
  return broker === undefined ? startKafka() : { broker, stop: async () => undefined };
}
