import path from 'node:path';
import { authSchema } from '@gateway/auth';
import { billingLedgerSchema } from '@gateway/billing-ledger';
import {
  createDatabaseMonitor,
  createPool,
  migrateDatabase,
  startEmbeddedPostgres,
  type DatabaseMonitor,
  type DatabasePool,
  type DatabaseSchema,
} from '@gateway/database';
import { eventLogSchema } from '@gateway/events';
import type { Logger, Registry } from '@gateway/runtime';
import { inferenceRouterSchema } from '@gateway/inference-router';
import { usageSchema } from '@gateway/usage';
import type { Pool } from 'pg';

/** Each domain has its own schema and pool in the same PostgreSQL. */
interface Domain extends DatabaseSchema {
  readonly maxConnections: number;
}

const domains = {
  eventLog: { ...eventLogSchema, maxConnections: 6 },
  auth: { ...authSchema, maxConnections: 8 },
  billingLedger: {
    ...billingLedgerSchema,
    maxConnections: 10,
  },
  inferenceRouter: {
    ...inferenceRouterSchema,
    maxConnections: 2,
  },
  usage: { ...usageSchema, maxConnections: 6 },
} satisfies Record<string, Domain>;

export type Pools = Readonly<Record<keyof typeof domains, Pool>>;

export interface Database {
  readonly pools: Pools;
  /** Resolves with the reason when the embedded server has failed permanently. */
  readonly failed: Promise<Error>;
  /** Whether the database accepts writes. */
  isAvailable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** URL of an external server; the embedded one is started when absent. */
  readonly url: string | undefined;
  readonly queryTimeoutMs: number;
  readonly stateDirectory: string;
  readonly log: Logger;
  readonly metrics: Registry;
}

/** Opens the database and migrates every domain's schema. */
export async function openDatabase({
  url,
  queryTimeoutMs,
  stateDirectory,
  log,
  metrics,
}: DatabaseOptions): Promise<Database> {
  const server =
    url === undefined
      ? await startEmbeddedPostgres({ stateDirectory: path.join(stateDirectory, 'postgres'), log })
      : undefined;
  const serverUrl = url ?? (server?.url as string);
  const opened: DatabasePool[] = [];
  let monitor: DatabaseMonitor | undefined;
  const close = async () => {
    await monitor?.end();
    await Promise.all(opened.map((pool) => pool.end()));
    await server?.stop();
  };
  /** An external server may always recover; the embedded one reports when it cannot. */
  const failed = new Promise<Error>((resolve) => {
    server?.stopped.catch(resolve);
  });

  async function open({ maxConnections, ...domain }: Domain): Promise<Pool> {
    const { schema } = domain;
    await migrateDatabase(serverUrl, { ...domain, log });
    const pool = createPool({
      url: serverUrl,
      schema,
      applicationName: `gateway ${schema}`,
      maxConnections,
      queryTimeoutMs,
      log,
    });
    opened.push(pool);
    return pool;
  }

  try {
    const pools = {
      // First, since the ledger appends to it in its transactions.
      eventLog: await open(domains.eventLog),
      auth: await open(domains.auth),
      billingLedger: await open(domains.billingLedger),
      inferenceRouter: await open(domains.inferenceRouter),
      usage: await open(domains.usage),
    };
    const { schema } = domains.eventLog;
    const watched = createDatabaseMonitor({ url: serverUrl, schema, pools: opened, log, metrics });
    monitor = watched;
    return { pools, failed, isAvailable: () => watched.isAvailable(), close };
  } catch (error) {
    await close();
    throw error;
  }
}
