import { connect, type Socket } from 'node:net';
import { applyMigrations, createPool } from '@gateway/database';
import { describeWith, kafka, startKafka, type KafkaServer } from '@gateway/dev-infra';
import { createMetrics } from '@gateway/runtime';
import { createTestClock, createTestDatabase, eventually, type TestDatabase } from '@gateway/test-support';
import { Kafka, logLevel } from 'kafkajs';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { describeDeadLetters } from '../dead-letters.contract';
import type { EventLogLimits } from '../delivery/limits';
import {
  collector,
  describeEventLog,
  event,
  numbered,
  sortedTextsOf,
  type EventLogHarness,
  type EventLogProcess,
} from '../event-log.contract';
import { UnprocessableEventsError, type EventHandler } from '../event-log';
import { EVENT_LOG_SCHEMA, eventLogSchema } from '../postgres/sql/schema';
import { createKafkaEventLog, type KafkaEventLog, type KafkaEventLogOptions } from './kafka-event-log';
import { KafkaUnavailableError } from './kafka-writer';

const ignore = () => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const QUICK: Partial<EventLogLimits> = {
  backoff: { firstMs: 1, maxMs: 50 },
  lockRetryMs: 20,
  lingerMs: 0,
  pollIntervalMs: 600_000,
  lagIntervalMs: 200,
};
/** The shortest timeout that the test brokers allow. */
const SESSION_TIMEOUT_MS = 2_000;

jest.setTimeout(120_000);

describeWith(kafka, 'the log on a Kafka server', () => {
  let server: KafkaServer;
  let database: TestDatabase;
  const clock = createTestClock();
  let opened: OpenLog[] = [];

  interface OpenLog extends KafkaEventLog {
    readonly metrics: Registry;
    /** Cuts all connections, also new ones. */
    cut(): Promise<void>;
  }

  beforeAll(async () => {
    [server, database] = await Promise.all([
      startKafka({ settings: { 'group.min.session.timeout.ms': '1000' } }),
      createTestDatabase(),
    ]);
    const admin = createPool({
      url: database.url,
      schema: EVENT_LOG_SCHEMA,
      applicationName: 'admin',
      maxConnections: 1,
    });
    await applyMigrations(admin, eventLogSchema);
    await admin.end();
  });

  afterEach(async () => {
    await Promise.all(opened.map((log) => log.stop()));
    opened = [];
  });

  afterAll(async () => {
    await server?.stop();
    await database?.drop();
  });

  function open(options: Partial<KafkaEventLogOptions> = {}): OpenLog {
    const sockets = new Set<Socket>();
    let isCut = false;
    const pool: Pool = createPool({
      url: database.url,
      schema: EVENT_LOG_SCHEMA,
      applicationName: 'dead-letters',
      maxConnections: 6,
    });
    const metrics = createMetrics({ processMetrics: false });
    const log = createKafkaEventLog({
      connection: {
        brokers: [server.broker],
        socketFactory: ({ host, port, onConnect }) => {
          const socket = connect(isCut ? { host: '127.0.0.1', port: 1 } : { host, port }, onConnect);
          sockets.add(socket);
          return socket;
        },
      },
      clientId: 'test',
      partitions: 3,
      consumerPool: pool,
      clock,
      log: silent,
      metrics,
      limits: QUICK,
      sessionTimeoutMs: SESSION_TIMEOUT_MS,
      // So that a busy machine does not look like an unavailable broker.
      writeTimeoutMs: 30_000,
      ...options,
    });
    let stopping: Promise<void> | undefined;
    const own: OpenLog = {
      ...log,
      deadLetters: log.deadLetters,
      metrics,
      stop: () => (stopping ??= log.stop().then(() => pool.end())),
      cut: async () => {
        isCut = true;
        for (const socket of sockets) socket.destroy(new Error('the connection was cut'));
      },
    };
    opened.push(own);
    return own;
  }

  const harness = (options: Partial<KafkaEventLogOptions>) => async (): Promise<EventLogHarness> => ({
    open: async () => open(options),
    crash: async (process: EventLogProcess) => (process as OpenLog).cut(),
  });

  describeEventLog('the log on Kafka', harness({ partitions: 3 }));
  // Dead letters are listed by position, which is their order in time only within one partition.
  describeDeadLetters('the log on Kafka', harness({ partitions: 1 }));

  describe('and its brokers', () => {
    it('fails fast after a failed write, and writes again when the broker is available', async () => {
      const log = open({ writeTimeoutMs: 1_000, failFastMs: 300 });
      await log.append('unavailable', numbered(1));
      await server.kill();
      await expect(log.append('unavailable', [event('k', 'lost')])).rejects.toThrow(KafkaUnavailableError);
      await expect(log.append('unavailable', [event('k', 'lost')])).rejects.toThrow('recent write');
      await server.start();
      await eventually(
        'the broker to accept events again',
        async () =>
          log.append('unavailable', [event('k', 'after')]).then(
            () => true as const,
            () => undefined,
          ),
        { timeoutMs: 60_000 },
      );
      const seen = collector();
      await log.subscribe({ topic: 'unavailable', group: 'g', handle: seen.handle });
      const texts = sortedTextsOf(await seen.distinct(2));
      expect(texts).toEqual(expect.arrayContaining(['0', 'after']));
    });

    it('continues reading after the broker was killed, without losing events', async () => {
      const log = open();
      const seen = collector();
      await log.subscribe({ topic: 'killed', group: 'g', handle: seen.handle });
      await log.append('killed', numbered(10));
      await seen.distinct(10);
      await server.kill();
      await server.start();
      for (let index = 10; index < 20; index += 1) {
        await eventually(
          'an append',
          async () =>
            log.append('killed', [event(`key-${index}`, `${index}`)]).then(
              () => true as const,
              () => undefined,
            ),
          { timeoutMs: 60_000 },
        );
      }
      await seen.distinct(20);
    });

    it('dead-letters a foreign message whose key and header have a NUL, and reads on', async () => {
      const log = open({ partitions: 1 });
      await log.append('foreign', numbered(1));
      const producer = new Kafka({ brokers: [server.broker], logLevel: logLevel.NOTHING }).producer();
      await producer.connect();
      await producer.send({
        topic: 'foreign',
        messages: [{ key: 'a\0', value: 'bad', headers: { h: '\0' } }],
      });
      await producer.disconnect();
      await log.append('foreign', [event('k', 'after')]);
      const seen = collector();
      const handle: EventHandler = async (events) => {
        const bad = events.filter(({ payload }) => Buffer.from(payload).toString() === 'bad');
        if (bad.length > 0) {
          throw new UnprocessableEventsError(bad.map((each) => ({ event: each, reason: 'bad\0' })));
        }
        await seen.handle(events);
      };
      await log.subscribe({ topic: 'foreign', group: 'g', handle });
      expect(sortedTextsOf(await seen.distinct(2))).toEqual(['0', 'after']);
      expect(await log.deadLetters.count({ topic: 'foreign', group: 'g' })).toMatchObject({ waiting: 1 });
    });

    it('returns from a drain whether everything was read', async () => {
      const log = open();
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      await log.append('drained', numbered(5));
      await log.subscribe({ topic: 'drained', group: 'g', handle: () => gate });
      expect(await log.drain(200)).toBe(false);
      release();
      expect(await log.drain(60_000)).toBe(true);
    });
  });
});
