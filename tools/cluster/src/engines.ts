import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@gateway/database';
import {
  findStablePort,
  startKafka,
  startRedis,
  type KafkaServer,
  type RedisServer,
} from '@gateway/dev-infra';
import type { Logger } from '@gateway/runtime';
import { Client } from 'pg';
import { DATABASES, type DatabaseName, type EngineAddresses } from './services';

export interface Engines extends EngineAddresses {
  readonly postgres: EmbeddedPostgres;
  readonly redis: RedisServer;
  readonly kafka: KafkaServer;
  stop(): Promise<void>;
}

/** Enough for the pools of a dozen replicas. */
const POSTGRES_SETTINGS = { max_connections: '300' };
const PASSWORD_BYTES = 18;

/** PostgreSQL and Kafka keep what they have in the state folder; Redis has only its memory. */
export async function startEngines(stateDirectory: string, log: Logger): Promise<Engines> {
  const started: { stop(): Promise<void> }[] = [];
  const keep = <Engine extends { stop(): Promise<void> }>(engine: Engine): Engine => {
    started.push(engine);
    return engine;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((engine) => engine.stop()));
  };
  const [postgres, redis, kafka] = await Promise.allSettled([
    startEmbeddedPostgres({
      stateDirectory: path.join(stateDirectory, 'postgres'),
      port: await findStablePort(),
      settings: POSTGRES_SETTINGS,
      log,
    }).then(keep),
    startRedis().then(keep),
    startKafka({ directory: path.join(stateDirectory, 'kafka') }).then(keep),
  ]);
  const failed = [postgres, redis, kafka].find(({ status }) => status === 'rejected');
  if (postgres.status === 'rejected' || redis.status === 'rejected' || kafka.status === 'rejected') {
    await stop();
    throw (failed as PromiseRejectedResult).reason;
  }
  return {
    postgres: postgres.value,
    redis: redis.value,
    kafka: kafka.value,
    databases: await ensureDatabases(postgres.value.adminUrl),
    redisUrl: redis.value.url,
    broker: kafka.value.broker,
    stop,
  };
}

/** A database for each domain, whose role owns it and may not even connect to another. */
async function ensureDatabases(adminUrl: string): Promise<Record<DatabaseName, string>> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    // A statement that fails is written to the server's log, and these hold passwords.
    await client.query(`set log_min_error_statement = 'panic'`);
    const urls: Partial<Record<DatabaseName, string>> = {};
    for (const database of DATABASES) urls[database] = await ensureDatabase(client, adminUrl, database);
    return urls as Record<DatabaseName, string>;
  } finally {
    await client.end();
  }
}

async function ensureDatabase(client: Client, adminUrl: string, database: DatabaseName): Promise<string> {
  const role = `gateway_${database}`;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const { rowCount: roles } = await client.query('select from pg_roles where rolname = $1', [role]);
  await client.query(
    `${roles === 0 ? 'create' : 'alter'} role ${role} with login nosuperuser nocreatedb nocreaterole ` +
      `password ${client.escapeLiteral(password)}`,
  );
  const { rowCount: databases } = await client.query('select from pg_database where datname = $1', [
    database,
  ]);
  if (databases === 0) await client.query(`create database ${database} owner ${role}`);
  await client.query(`revoke connect on database ${database} from public`);
  const url = new URL(adminUrl);
  url.username = role;
  url.password = password;
  url.pathname = `/${database}`;
  return url.toString();
}
