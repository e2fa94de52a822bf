import path from 'node:path';
import { findFreePort, startEmbeddedPostgres, type EmbeddedPostgres } from '@gateway/database';
import {
  startKafka,
  startPgBouncer,
  startRedis,
  type KafkaServer,
  type RedisServer,
} from '@gateway/dev-infra';
import type { Logger } from '@gateway/runtime';
import { ensureDatabases } from './databases';
import type { EngineAddresses } from './services';

export interface Engines extends EngineAddresses {
  readonly postgres: EmbeddedPostgres;
  readonly redis: RedisServer;
  readonly kafka: KafkaServer;
  /** Of PgBouncer, where it stands before PostgreSQL. */
  readonly poolerPort: number | undefined;
  stop(): Promise<void>;
}

/** Enough for the pools of a dozen replicas. */
const POSTGRES_SETTINGS = { max_connections: '300' };

export interface EngineOptions {
  readonly stateDirectory: string;
  /** Whether PgBouncer stands before PostgreSQL, in transaction mode. */
  readonly withPooler: boolean;
  readonly log: Logger;
}

/** PostgreSQL and Kafka keep what they have in the state folder; Redis has only its memory. */
export async function startEngines({ stateDirectory, withPooler, log }: EngineOptions): Promise<Engines> {
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
      port: await findFreePort(),
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
  const direct = await ensureDatabases(postgres.value.adminUrl);
  const pooler = withPooler ? keep(await startPgBouncer({ databases: direct })) : undefined;
  return {
    postgres: postgres.value,
    redis: redis.value,
    kafka: kafka.value,
    databases: pooler?.databases ?? direct,
    directDatabases: pooler && direct,
    poolerPort: pooler?.port,
    redisUrl: redis.value.url,
    broker: kafka.value.broker,
    stop,
  };
}
