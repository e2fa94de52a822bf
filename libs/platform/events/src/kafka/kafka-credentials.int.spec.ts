import { applyMigrations, createPool } from '@gateway/database';
import { describeWith, kafka, startKafka, type KafkaServer } from '@gateway/dev-infra';
import { createMetrics, createSilentLogger, systemClock } from '@gateway/runtime';
import { createTestDatabase, eventually, type TestDatabase } from '@gateway/test-support';
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  Kafka,
  logLevel,
  ResourcePatternTypes,
  type Admin,
} from 'kafkajs';
import type { Pool } from 'pg';
import { collector, event } from '../event-log.contract';
import { EVENT_LOG_SCHEMA, eventLogSchema } from '../postgres/sql/schema';
import { groupIdOf } from './kafka-consumer';
import { createKafkaEventLog, type KafkaEventLog } from './kafka-event-log';

const TOPIC = 'credentials';
const GROUP = 'g';
const USERS = ['operator', 'first', 'second', 'counting'] as const;
type User = (typeof USERS)[number];
const passwordOf = (user: User) => `password-of-${user}`;
const users = USERS.map((user) => `user_${user}="${passwordOf(user)}"`).join(' ');

/** Only the operator and explicitly allowed users have permissions. */
const SETTINGS = {
  'listener.security.protocol.map': 'PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
  'sasl.enabled.mechanisms': 'PLAIN',
  'sasl.mechanism.inter.broker.protocol': 'PLAIN',
  'listener.name.plaintext.plain.sasl.jaas.config':
    'org.apache.kafka.common.security.plain.PlainLoginModule required ' +
    `username="operator" password="${passwordOf('operator')}" ${users};`,
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:operator;User:ANONYMOUS',
};

/** For a service that writes and reads a topic and measures its lag; listed in docs/how-to/rotate-secrets.md. */
const ALLOWED = [
  ...[AclOperationTypes.READ, AclOperationTypes.WRITE, AclOperationTypes.CREATE].map((operation) => ({
    resourceType: AclResourceTypes.TOPIC,
    resourceName: TOPIC,
    operation,
  })),
  {
    resourceType: AclResourceTypes.GROUP,
    resourceName: groupIdOf({ topic: TOPIC, group: GROUP }),
    operation: AclOperationTypes.READ,
  },
];

/** For a service that measures the lag of other groups. */
const ALLOWED_TO_COUNT = [
  { resourceType: AclResourceTypes.TOPIC, resourceName: TOPIC, operation: AclOperationTypes.DESCRIBE },
  {
    resourceType: AclResourceTypes.GROUP,
    resourceName: groupIdOf({ topic: TOPIC, group: GROUP }),
    operation: AclOperationTypes.DESCRIBE,
  },
];

jest.setTimeout(120_000);

describeWith(kafka, 'the log on Kafka with authentication', () => {
  let server: KafkaServer;
  let database: TestDatabase;
  let pool: Pool;
  let admin: Admin;
  let opened: KafkaEventLog[] = [];

  beforeAll(async () => {
    [server, database] = await Promise.all([startKafka({ settings: SETTINGS }), createTestDatabase()]);
    pool = createPool({
      url: database.url,
      schema: EVENT_LOG_SCHEMA,
      applicationName: 'test',
      maxConnections: 8,
    });
    await applyMigrations(pool, eventLogSchema);
    const { brokers, sasl } = connectionOf('operator');
    admin = new Kafka({ brokers, sasl, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  });

  afterEach(async () => {
    await Promise.all(opened.map((log) => log.stop()));
    opened = [];
  });

  afterAll(async () => {
    await admin?.disconnect();
    await server?.stop();
    await pool?.end();
    await database?.drop();
  });

  const connectionOf = (user: User, password = passwordOf(user)) => ({
    brokers: [server.broker],
    sasl: { mechanism: 'plain' as const, username: user, password },
  });

  function open(user: User, password?: string): KafkaEventLog {
    const log = createKafkaEventLog({
      connection: connectionOf(user, password),
      clientId: user,
      partitions: 3,
      consumerPool: pool,
      clock: systemClock,
      log: createSilentLogger(),
      metrics: createMetrics({ processMetrics: false }),
      // So that a busy machine does not look like an unavailable broker.
      writeTimeoutMs: 30_000,
    });
    opened.push(log);
    return log;
  }

  const aclsOf = (user: User, allowed = ALLOWED) =>
    allowed.map((each) => ({
      ...each,
      resourcePatternType: ResourcePatternTypes.LITERAL,
      principal: `User:${user}`,
      host: '*',
      permissionType: AclPermissionTypes.ALLOW,
    }));

  it('works during a rotation of its user, and refuses the old user afterwards', async () => {
    await admin.createAcls({ acl: aclsOf('first') });
    const seen = collector();
    let writing = open('first');
    let appended = 0;
    let changed = false;
    const load = (async () => {
      while (!changed) {
        await writing.append(TOPIC, [event(`key-${appended % 7}`, String(appended))]);
        appended += 1;
      }
    })();
    // The error is reported by the await below.
    load.catch(() => undefined);
    const moreSeen = () => Promise.race([seen.distinct(appended + 20), load]);
    await open('first').subscribe({ topic: TOPIC, group: GROUP, handle: seen.handle });
    await moreSeen();

    await admin.createAcls({ acl: aclsOf('second') });
    const [before] = opened.slice(-1);
    writing = open('second');
    await open('second').subscribe({ topic: TOPIC, group: GROUP, handle: seen.handle });
    await moreSeen();
    await before?.stop();
    await admin.deleteAcls({ filters: aclsOf('first') });
    await moreSeen();
    changed = true;
    await load;
    await seen.distinct(appended);
    await admin.createAcls({ acl: aclsOf('counting', ALLOWED_TO_COUNT) });
    const counting = open('counting');
    await eventually('no lag', async () => {
      return (await counting.countWaiting({ topic: TOPIC, group: GROUP })) === 0 || undefined;
    });

    await expect(open('first').append(TOPIC, [event('key', 'late')])).rejects.toThrow(
      'writing events to Kafka failed',
    );
    const guessed = open('second', 'guessed').append(TOPIC, [event('key', 'late')]);
    await expect(guessed).rejects.toThrow('writing events to Kafka failed');
  });
});
