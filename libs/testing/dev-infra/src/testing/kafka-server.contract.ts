import { Kafka, logLevel, type Admin } from 'kafkajs';
import type { KafkaServer, KafkaServerOptions } from '../kafka-server';

const START_MS = 120_000;

/** What every way to start a Kafka broker does. */
export function describeKafkaServerSuite(
  start: (options?: KafkaServerOptions) => Promise<KafkaServer>,
): void {
  let server: KafkaServer;
  let client: Kafka;
  let admin: Admin;

  async function connect(): Promise<void> {
    client = new Kafka({ brokers: [server.broker], logLevel: logLevel.NOTHING });
    admin = client.admin();
    await admin.connect();
  }

  beforeAll(async () => {
    server = await start({ settings: { 'message.max.bytes': '123456' } });
    await connect();
  }, START_MS);
  afterAll(async () => {
    await admin?.disconnect();
    await server?.stop();
  });

  it('has the requested settings', async () => {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      // 4 is a broker; the constant of kafkajs is no part of its type for this method.
      resources: [{ type: 4, name: '1', configNames: ['message.max.bytes'] }],
    });
    expect(resources[0]?.configEntries[0]?.configValue).toBe('123456');
  });

  it('responds to nothing while it is paused, and to everything afterwards', async () => {
    await server.pause();
    const listed = admin.listTopics();
    // A request to a broker that runs takes a few milliseconds.
    const silence = new Promise((resolve) => setTimeout(resolve, 500, 'no response'));
    expect(await Promise.race([listed, silence])).toBe('no response');
    await server.resume();
    expect(await listed).toEqual(expect.any(Array));
  });

  it(
    'keeps written records after a kill',
    async () => {
      await admin.createTopics({ topics: [{ topic: 'notes', numPartitions: 1 }], waitForLeaders: false });
      const producer = client.producer();
      await producer.connect();
      await producer.send({ topic: 'notes', messages: [{ value: 'a' }, { value: 'b' }] });
      await Promise.all([admin.disconnect(), producer.disconnect()]);
      await server.kill();
      await expect(new Kafka({ ...QUICK, brokers: [server.broker] }).admin().connect()).rejects.toThrow();
      await server.start();
      await connect();
      expect(await admin.fetchTopicOffsets('notes')).toMatchObject([{ partition: 0, high: '2' }]);
    },
    START_MS,
  );
}

const QUICK = { logLevel: logLevel.NOTHING, connectionTimeout: 500, retry: { retries: 0 } };
