import path from 'node:path';
import { AUTH_SCHEMA, authMigrations } from '@gateway/auth';
import { BILLING_LEDGER_SCHEMA, billingLedgerMigrations } from '@gateway/billing-ledger';
import {
  applyMigrations,
  createDatabaseProbe,
  createPool,
  startEmbeddedPostgres,
  type Migration,
} from '@gateway/database';
import { EVENT_LOG_SCHEMA, eventLogMigrations } from '@gateway/events';
import { type Logger } from '@gateway/runtime';
import { INFERENCE_ROUTER_SCHEMA, inferenceRouterMigrations } from '@gateway/inference-router';
import { USAGE_SCHEMA, usageMigrations } from '@gateway/usage';
import type { Pool } from 'pg';

/** One schema and one pool per domain, all in one PostgreSQL. */
interface Domain {
  readonly schema: string;
  readonly migrations: readonly Migration[];
  readonly maxConnections: number;
}

const domains = {
  eventLog: { schema: EVENT_LOG_SCHEMA, migrations: eventLogMigrations, maxConnections: 6 },
  auth: { schema: AUTH_SCHEMA, migrations: authMigrations, maxConnections: 8 },
  billingLedger: {
    schema: BILLING_LEDGER_SCHEMA,
    migrations: billingLedgerMigrations,
    maxConnections: 10,
  },
  inferenceRouter: {
    schema: INFERENCE_ROUTER_SCHEMA,
    migrations: inferenceRouterMigrations,
    maxConnections: 2,
  },
  usage: { schema: USAGE_SCHEMA, migrations: usageMigrations, maxConnections: 6 },
} satisfies Record<string, Domain>;

export type Pools = Readonly<Record<keyof typeof domains, Pool>>;

export interface Database {
  readonly pools: Pools;
  /** Resolves with the reason when our own server is gone for good. */
  readonly failed: Promise<Error>;
  /** Whether the database answers. */
  answers(): Promise<boolean>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** A server to use; our own is started when absent. */
  readonly url: string | undefined;
  readonly stateDirectory: string;
  readonly log: Logger;
}

/** Opens the database, bringing every domain's schema up to date. */
export async function openDatabase({ url, stateDirectory, log }: DatabaseOptions): Promise<Database> {
  const server =
    url === undefined
      ? await startEmbeddedPostgres({ stateDirectory: path.join(stateDirectory, 'postgres'), log })
      : undefined;
  const serverUrl = url ?? (server?.url as string);
  const opened: Pool[] = [];
  const probe = createDatabaseProbe({ url: serverUrl, schema: domains.eventLog.schema, log });
  const close = async () => {
    await Promise.all([probe, ...opened].map((connections) => connections.end()));
    await server?.stop();
  };
  /** An external server may always come back; our own says when it does not. */
  const failed = new Promise<Error>((resolve) => {
    server?.stopped.catch(resolve);
  });

  async function open({ schema, migrations, maxConnections }: Domain): Promise<Pool> {
    const pool = createPool({
      url: serverUrl,
      schema,
      applicationName: `gateway ${schema}`,
      maxConnections,
      log,
    });
    opened.push(pool);
    await applyMigrations(pool, { schema, migrations, log });
    return pool;
  }

  try {
    const pools = {
      // First, since the ledger appends to it in its own transactions.
      eventLog: await open(domains.eventLog),
      auth: await open(domains.auth),
      billingLedger: await open(domains.billingLedger),
      inferenceRouter: await open(domains.inferenceRouter),
      usage: await open(domains.usage),
    };
    return { pools, failed, answers: () => probe.answers(), close };
  } catch (error) {
    await close();
    throw error;
  }
}
