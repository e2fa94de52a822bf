import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { containerOf } from './container-server';
import { describeWith } from './describe-with';
import { startKafkaContainer } from './kafka-container';
import { kafkaJars, localKafka, startLocalKafka } from './kafka-process';
import { describeKafkaServerSuite } from './testing/kafka-server.contract';

describeWith(localKafka, 'a Kafka broker as a local program', () => {
  describeKafkaServerSuite(startLocalKafka);

  it('archives its classes next to its jars, for later starts', async () => {
    const jars = await kafkaJars();
    const archives = readdirSync(dirname(jars)).filter((name) => name.endsWith('.jsa'));
    expect(archives).toContainEqual(expect.stringMatching(`^${basename(jars)}-java-`));
  });
});
describeWith(containerOf('kafka'), 'a Kafka broker in a container', () =>
  describeKafkaServerSuite(startKafkaContainer),
);
