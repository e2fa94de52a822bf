import { createAdminClient, type AdminClient } from '@gateway/admin-calls';
import type { Clock } from '@gateway/base';
import { GenerationQueryDefinition } from '@gateway/contracts/generation-query';
import { UsageAggregatorDefinition } from '@gateway/contracts/usage-aggregator';
import { applyMigrations, createPool } from '@gateway/database';
import type { EventHandler } from '@gateway/events';
import { createClient, createInProcessTransport, type RpcClient } from '@gateway/rpc';
import { createMetrics, type Registry } from '@gateway/runtime';
import { createTestClock, createTestDatabase, inProcessFor } from '@gateway/test-support';
import type { Pool } from 'pg';
import type { RefusalStore, UsageReconciler } from '../core/ports';
import {
  createGenerationQueryModule,
  createPostgresRefusalStore,
  createPostgresSettlementStore,
  createPostgresUsageReader,
  createPostgresUsageReconciler,
  createUsageAggregatorModule,
  USAGE_SCHEMA,
  usageSchema,
} from '../index';
import { logged, NOON, settled, type Settled } from './settled-events';

/** The modules of usage over one pool. */
export interface UsageModules {
  readonly metrics: Registry;
  readonly refusals: RefusalStore;
  readonly reconciler: UsageReconciler;
  /** Records settlements. */
  readonly handle: EventHandler;
  readonly query: RpcClient<typeof GenerationQueryDefinition>;
  readonly aggregator: RpcClient<typeof UsageAggregatorDefinition>;
  readonly admin: AdminClient;
  record(...events: readonly Settled[]): Promise<unknown>;
}

export interface UsageDatabase {
  readonly pool: Pool;
  /** Empties every table. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export type UsageUnderTest = UsageModules & UsageDatabase;

/** Usage on a new database. */
export async function createUsageUnderTest(clock?: Clock): Promise<UsageUnderTest> {
  const database = await createUsageDatabase();
  return { ...database, ...createUsageModules(database.pool, clock) };
}

export async function createUsageDatabase(): Promise<UsageDatabase> {
  const database = await createTestDatabase();
  const pool = createPool({
    url: database.url,
    schema: USAGE_SCHEMA,
    applicationName: 'test',
    maxConnections: 4,
  });
  await applyMigrations(pool, usageSchema);
  return {
    pool,
    async clear() {
      const { rows } = await pool.query<{ tables: string }>(ALL_TABLES);
      await pool.query(`truncate ${rows[0]?.tables}`);
    },
    async close() {
      await pool.end();
      await database.drop();
    },
  };
}

/** Partitions are emptied with their tables. */
const ALL_TABLES = `
  select string_agg(quote_ident(relname), ', ') as tables from pg_class
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
    and relname <> '_prisma_migrations'`;

/** Usage on an existing database, with metrics of its own. */
export function createUsageModules(pool: Pool, clock: Clock = createTestClock(NOON)): UsageModules {
  const metrics = createMetrics({ processMetrics: false });
  const refusals = createPostgresRefusalStore(pool);
  const reconciler = createPostgresUsageReconciler({ pool, clock });
  const aggregator = createUsageAggregatorModule({
    store: createPostgresSettlementStore(pool),
    refusals,
    reconciler,
    clock,
    metrics,
  });
  const handle = aggregator.consumers[0]!.handle;
  const { services } = createGenerationQueryModule({ reader: createPostgresUsageReader(pool), clock });
  return {
    metrics,
    refusals,
    reconciler,
    handle,
    query: createClient(GenerationQueryDefinition, createInProcessTransport(services)),
    aggregator: createClient(UsageAggregatorDefinition, createInProcessTransport(aggregator.services)),
    admin: createAdminClient(inProcessFor(services)),
    record: (...events) => handle(events.map((each) => logged(settled(each)))),
  };
}
