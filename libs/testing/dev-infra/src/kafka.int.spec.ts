import { containerOf } from './container-server';
import { describeWith } from './describe-with';
import { startKafkaContainer } from './kafka-container';
import { localKafka, startLocalKafka } from './kafka-process';
import { describeKafkaServerSuite } from './testing/kafka-server.contract';

describeWith(localKafka, 'a Kafka broker as a local program', () =>
  describeKafkaServerSuite(startLocalKafka),
);
describeWith(containerOf('kafka'), 'a Kafka broker in a container', () =>
  describeKafkaServerSuite(startKafkaContainer),
);
