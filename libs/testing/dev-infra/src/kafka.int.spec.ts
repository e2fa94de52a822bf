import { Kafka, logLevel } from 'kafkajs';
import { describeWith } from './describe-with';
import { kafka, startKafka } from './kafka';

const START_MS = 120_000;

describeWith(kafka, 'a Kafka server for tests', () => {
  it(
    'keeps written records after a kill',
    async () => {
      const server = await startKafka();
      try {
        const client = new Kafka({ brokers: [server.broker], logLevel: logLevel.NOTHING });
        const admin = client.admin();
        await admin.connect();
        await admin.createTopics({ topics: [{ topic: 'notes', numPartitions: 1 }], waitForLeaders: false });
        const producer = client.producer();
        await producer.connect();
        await producer.send({ topic: 'notes', messages: [{ value: 'a' }, { value: 'b' }] });
        await Promise.all([admin.disconnect(), producer.disconnect()]);
        await server.kill();
        await server.start();
        const restartedAdmin = client.admin();
        await restartedAdmin.connect();
        expect(await restartedAdmin.fetchTopicOffsets('notes')).toMatchObject([{ partition: 0, high: '2' }]);
        await restartedAdmin.disconnect();
      } finally {
        await server.stop();
      }
    },
    START_MS,
  );
});
