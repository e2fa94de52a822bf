import { applyMigrations, createPool, inOneRoundTrip } from '@gateway/database';
import { describeWith, kafka, startKafka, type KafkaServer } from '@gateway/dev-infra';
import { createMetrics, createSilentLogger, systemClock } from '@gateway/runtime';
import { createTestDatabase, eventually, type TestDatabase } from '@gateway/test-support';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { event } from '../event-log.contract';
import { UnprocessableEventsError, type EventHandler } from '../event-log';
import { EVENT_LOG_SCHEMA, eventLogSchema } from '../postgres/sql/schema';
import { groupIdOf } from './kafka-consumer';
import { createKafkaEventLog, type KafkaEventLog } from './kafka-event-log';

const GROUP = 'g';
const TIMEOUT = { timeoutMs: 60_000 };

jest.setTimeout(120_000);

describeWith(kafka, 'offsets in the database of the effects', () => {
  let server: KafkaServer;
  let database: TestDatabase;
  let pool: Pool;
  let admin: Admin;
  let log: KafkaEventLog;
  let metrics: Registry;
  let topic: string;
  let topicNumber = 0;

  beforeAll(async () => {
    [server, database] = await Promise.all([startKafka(), createTestDatabase()]);
    pool = createPool({
      url: database.url,
      schema: EVENT_LOG_SCHEMA,
      applicationName: 'test',
      maxConnections: 8,
    });
    await applyMigrations(pool, eventLogSchema);
    await pool.query('create table effects (topic text, text text, primary key (topic, text))');
    admin = new Kafka({ brokers: [server.broker], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  });

  beforeEach(() => {
    topic = `topic-${(topicNumber += 1)}`;
    log = open();
  });

  afterEach(() => log.stop());

  afterAll(async () => {
    await admin?.disconnect();
    await server?.stop();
    await pool?.end();
    await database?.drop();
  });

  function open(partitions = 1): KafkaEventLog {
    metrics = createMetrics({ processMetrics: false });
    return createKafkaEventLog({
      connection: { brokers: [server.broker] },
      clientId: 'test',
      partitions,
      consumerPool: pool,
      clock: systemClock,
      log: createSilentLogger(),
      metrics,
      limits: { lingerMs: 0, lagIntervalMs: 200, backoff: { firstMs: 1, maxMs: 50 } },
      // So that a busy machine does not look like an unavailable broker.
      writeTimeoutMs: 30_000,
    });
  }

  /** Stores effects and offsets in one transaction. */
  const store: EventHandler = async (events, progress) => {
    const texts = events.map(({ payload }) => Buffer.from(payload).toString());
    await inOneRoundTrip(pool, (client) => [
      client.query('insert into effects select $1, unnest($2::text[]) on conflict do nothing', [
        topic,
        texts,
      ]),
      ...(progress ? [progress.write(client)] : []),
    ]);
    progress?.committed();
  };

  const append = (...texts: string[]) =>
    log.append(
      topic,
      texts.map((text) => event('key', text)),
    );

  async function effects(): Promise<string[]> {
    const { rows } = await pool.query<{ text: string }>('select text from effects where topic = $1', [topic]);
    return rows.map(({ text }) => text).sort();
  }

  const untilEffects = (...texts: string[]) =>
    eventually(
      `the effects ${texts.join()}`,
      async () => (await effects()).join() === [...texts].sort().join() || undefined,
      TIMEOUT,
    );

  async function storedOffset(): Promise<bigint | undefined> {
    const { rows } = await pool.query<{ next_offset: bigint }>(
      'select next_offset from consumer_offsets where topic = $1 and group_name = $2',
      [topic, GROUP],
    );
    return rows[0]?.next_offset;
  }

  async function committedOffset(): Promise<string | undefined> {
    const groupId = groupIdOf({ topic, group: GROUP });
    const [read] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return read?.partitions[0]?.offset;
  }

  const untilCommitted = (offset: number) =>
    eventually(
      `the committed offset ${offset}`,
      async () => (await committedOffset()) === String(offset) || undefined,
      TIMEOUT,
    );

  async function counted(name: string): Promise<number> {
    const metric = await metrics.getSingleMetric(name)?.get();
    return metric?.values.find(({ labels }) => labels.topic === topic)?.value ?? 0;
  }

  /** As a failover to an asynchronous standby does: the last effects and the offset after them are lost. */
  async function loseEffects(offset: number, ...texts: string[]): Promise<void> {
    await inOneRoundTrip(pool, (client) => [
      client.query('delete from effects where topic = $1 and text = any ($2)', [topic, texts]),
      client.query('update consumer_offsets set next_offset = $2 where topic = $1', [topic, offset]),
    ]);
  }

  const subscribe = (handle = store) => log.subscribe({ topic, group: GROUP, handle });

  it('are read again at a start, when the database lost them', async () => {
    await subscribe();
    await append('a', 'b', 'c');
    await untilEffects('a', 'b', 'c');
    await untilCommitted(3);
    expect(await storedOffset()).toBe(3n);
    await log.stop();

    await loseEffects(1, 'b', 'c');
    log = open();
    await subscribe();
    await untilEffects('a', 'b', 'c');
    expect(await counted('gateway_events_replayed_total')).toBe(2);
    await eventually('the stored offset', async () => (await storedOffset()) === 3n || undefined, TIMEOUT);
  });

  it('are read again by a consumer that keeps running, without new events', async () => {
    await subscribe();
    await append('a', 'b', 'c');
    await untilEffects('a', 'b', 'c');
    await untilCommitted(3);
    await loseEffects(1, 'b', 'c');
    await untilEffects('a', 'b', 'c');
  });

  it('are read again before a new event hides the loss', async () => {
    await log.stop();
    // Never checked without a batch.
    log = createKafkaEventLog({
      connection: { brokers: [server.broker] },
      clientId: 'test',
      partitions: 1,
      consumerPool: pool,
      clock: systemClock,
      log: createSilentLogger(),
      metrics: createMetrics({ processMetrics: false }),
      limits: { lingerMs: 0, lagIntervalMs: 600_000, backoff: { firstMs: 1, maxMs: 50 } },
      writeTimeoutMs: 30_000,
    });
    await subscribe();
    await append('a', 'b', 'c');
    await untilEffects('a', 'b', 'c');
    await untilCommitted(3);
    await loseEffects(1, 'b', 'c');
    await append('d');
    await untilEffects('a', 'b', 'c', 'd');
    await untilCommitted(4);
    expect(await storedOffset()).toBe(4n);
  });

  it.each<[string, boolean]>([
    ['stores none', false],
    ['is called again after a dead letter', true],
  ])(
    'are not stored over lost effects by a handler that was running meanwhile and %s',
    async (_what, isBad) => {
      let proceed = () => {};
      const realigned = new Promise<void>((resolve) => (proceed = resolve));
      let running = () => {};
      const started = new Promise<void>((resolve) => (running = resolve));
      let offsetBefore: bigint | undefined;
      await subscribe(async (events, progress) => {
        const texts = events.map(({ payload }) => Buffer.from(payload).toString());
        if (texts.includes('b')) offsetBefore = await storedOffset();
        const isNew = texts.includes('d') && !texts.includes('b');
        if (isNew && (!isBad || texts.includes('bad'))) {
          running();
          await realigned;
        }
        const bad = events.filter((_, index) => texts[index] === 'bad');
        if (bad.length > 0)
          throw new UnprocessableEventsError(bad.map((each) => ({ event: each, reason: 'bad' })));
        await store(events, isBad ? progress : undefined);
      });
      await append('a', 'b', 'c');
      await untilEffects('a', 'b', 'c');
      await untilCommitted(3);
      await append(...(isBad ? ['bad', 'd'] : ['d']));
      await started;
      await loseEffects(1, 'b', 'c');
      await eventually(
        'the realignment',
        async () => (await counted('gateway_events_replayed_total')) === 2 || undefined,
        TIMEOUT,
      );
      proceed();
      await untilEffects('a', 'b', 'c', 'd');
      expect(offsetBefore).toBe(1n);
    },
  );

  it('are stored for a handler that stores none, and after dead letters', async () => {
    await subscribe(async (events) => {
      const bad = events.filter(({ payload }) => Buffer.from(payload).toString() === 'bad');
      if (bad.length > 0) {
        throw new UnprocessableEventsError(bad.map((each) => ({ event: each, reason: 'bad' })));
      }
      await store(events);
    });
    await append('a', 'bad');
    await untilCommitted(2);
    expect(await storedOffset()).toBe(2n);
    await log.stop();

    log = open();
    await subscribe();
    await append('b');
    await untilEffects('a', 'b');
    expect(await counted('gateway_events_replayed_total')).toBe(0);
  });

  it('that Kafka has deleted are counted, and the others are read', async () => {
    await subscribe();
    await append('a', 'b', 'c');
    await untilEffects('a', 'b', 'c');
    await untilCommitted(3);
    await log.stop();

    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '2' }] });
    await loseEffects(1, 'b', 'c');
    log = open();
    await subscribe();
    await untilEffects('a', 'c');
    expect(await counted('gateway_events_expired_total')).toBe(1);
  });

  it('of a topic that was deleted and created again start at its beginning', async () => {
    await subscribe();
    await append('a', 'b', 'c');
    await untilEffects('a', 'b', 'c');
    await untilCommitted(3);
    await admin.deleteTopics({ topics: [topic] });
    await eventually('the deletion', async () => !(await admin.listTopics()).includes(topic) || undefined);
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
    await log.stop();

    log = open();
    await append('d');
    await subscribe();
    await untilEffects('a', 'b', 'c', 'd');
    await eventually('the stored offset', async () => (await storedOffset()) === 1n || undefined, TIMEOUT);
    await loseEffects(0, 'd');
    await untilEffects('a', 'b', 'c', 'd');
  });

  it('of a topic that is created again under a running consumer start at its beginning', async () => {
    await subscribe();
    await append('a', 'b', 'c');
    await untilEffects('a', 'b', 'c');
    await untilCommitted(3);
    await admin.deleteTopics({ topics: [topic] });
    await eventually('the deletion', async () => !(await admin.listTopics()).includes(topic) || undefined);
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
    const other = open();
    try {
      await other.append(topic, [event('key', 'd')]);
    } finally {
      await other.stop();
    }
    await untilEffects('a', 'b', 'c', 'd');
    await eventually('the stored offset', async () => (await storedOffset()) === 1n || undefined, TIMEOUT);
  });

  it('of a partition that was added are read from its beginning', async () => {
    await subscribe();
    await append('a');
    await untilEffects('a');
    await admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] });
    await log.stop();
    log = open();
    await subscribe();
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => log.append(topic, [event(`key-${index}`, `b-${index}`)])),
    );
    await eventually('the effects', async () => (await effects()).length === 13 || undefined, TIMEOUT);
    const { rows } = await pool.query('select partition from consumer_offsets where topic = $1', [topic]);
    expect(rows).toHaveLength(2);
  });
});
