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
import type { RefusalStore } from '../core/ports';
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

export interface UsageUnderTest {
  readonly pool: Pool;
  readonly metrics: Registry;
  readonly refusals: RefusalStore;
  /** Records settlements. */
  readonly handle: EventHandler;
  readonly query: RpcClient<typeof GenerationQueryDefinition>;
  readonly aggregator: RpcClient<typeof UsageAggregatorDefinition>;
  readonly admin: AdminClient;
  record(...events: readonly Settled[]): Promise<unknown>;
  /** Empties every table. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Usage on a new database. */
export async function createUsageUnderTest(clock: Clock = createTestClock(NOON)): Promise<UsageUnderTest> {
  const database = await createTestDatabase();
  const pool = createPool({
    url: database.url,
    schema: USAGE_SCHEMA,
    applicationName: 'test',
    maxConnections: 4,
  });
  await applyMigrations(pool, usageSchema);
  const metrics = createMetrics({ processMetrics: false });
  const refusals = createPostgresRefusalStore(pool);
  const aggregator = createUsageAggregatorModule({
    store: createPostgresSettlementStore(pool),
    refusals,
    reconciler: createPostgresUsageReconciler({ pool, clock }),
    clock,
    metrics,
  });
  const handle = aggregator.consumers[0]!.handle;
  const { services } = createGenerationQueryModule({ reader: createPostgresUsageReader(pool), clock });
  return {
    pool,
    metrics,
    refusals,
    handle,
    query: createClient(GenerationQueryDefinition, createInProcessTransport(services)),
    aggregator: createClient(UsageAggregatorDefinition, createInProcessTransport(aggregator.services)),
    admin: createAdminClient(inProcessFor(services)),
    record: (...events) => handle(events.map((each) => logged(settled(each)))),
    async clear() {
      await pool.query(`
        truncate generations, usage_rollups, usage_rollups_hourly, usage_value_rollups, usage_value_rollups_hourly,
          usage_provider_rollups, error_counts_hourly, refused_requests, refusal_reporters`);
    },
    async close() {
      await pool.end();
      await database.drop();
    },
  };
}
