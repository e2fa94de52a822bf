import path from 'node:path';
import { findFreePort, startEmbeddedPostgres, type EmbeddedPostgres } from '@gateway/database';
import {
  startLocalKafka,
  startLocalRedis,
  startPgBouncer,
  type KafkaServer,
  type RedisServer,
} from '@gateway/dev-infra';
import type { Logger } from '@gateway/runtime';
import { ensureDatabases } from './databases';
import type { DatastoreAddresses } from './services';

export interface Datastores extends DatastoreAddresses {
  readonly postgres: EmbeddedPostgres;
  readonly redis: RedisServer;
  /** Undefined when other brokers are used. */
  readonly kafka: KafkaServer | undefined;
  /** Port of PgBouncer, if it is used. */
  readonly poolerPort: number | undefined;
  stop(): Promise<void>;
}

/** Enough for the pools of a dozen replicas. */
const POSTGRES_SETTINGS = { max_connections: '300' };

export interface DatastoreOptions {
  readonly stateDirectory: string;
  /** Whether services connect to PostgreSQL through PgBouncer in transaction mode. */
  readonly withPooler: boolean;
  /** Running Kafka brokers, `host:port` separated by commas, instead of an own one. */
  readonly brokers?: string | undefined;
  readonly log: Logger;
}

/**
 * PostgreSQL and Kafka store their data in the state folder; Redis only in memory. All are local
 * programs: a container could not write the state folder as this user, and Docker's network would
 * add to what the cluster measures.
 */
export async function startDatastores({
  stateDirectory,
  withPooler,
  brokers,
  log,
}: DatastoreOptions): Promise<Datastores> {
  const started: { stop(): Promise<void> }[] = [];
  const track = <Datastore extends { stop(): Promise<void> }>(datastore: Datastore): Datastore => {
    started.push(datastore);
    return datastore;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((datastore) => datastore.stop()));
  };
  const [postgres, redis, kafka] = await Promise.allSettled([
    startEmbeddedPostgres({
      stateDirectory: path.join(stateDirectory, 'postgres'),
      port: await findFreePort(),
      settings: POSTGRES_SETTINGS,
      log,
    }).then(track),
    startLocalRedis().then(track),
    brokers === undefined
      ? startLocalKafka({ directory: path.join(stateDirectory, 'kafka') }).then(track)
      : undefined,
  ]);
  const failed = [postgres, redis, kafka].find(({ status }) => status === 'rejected');
  if (postgres.status === 'rejected' || redis.status === 'rejected' || kafka.status === 'rejected') {
    await stop();
    throw (failed as PromiseRejectedResult).reason;
  }
  const direct = await ensureDatabases(postgres.value.adminUrl);
  const pooler = withPooler ? track(await startPgBouncer({ databases: direct })) : undefined;
  return {
    postgres: postgres.value,
    redis: redis.value,
    kafka: kafka.value,
    databases: pooler?.databases ?? direct,
    directDatabases: pooler && direct,
    poolerPort: pooler?.port,
    redisUrl: redis.value.url,
    broker: brokers ?? kafka.value?.broker ?? '',
    stop,
  };
}
