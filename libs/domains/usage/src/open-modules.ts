import type { GatewayModule } from '@gateway/module';
import { systemClock } from '@gateway/runtime';
import type { Pool } from 'pg';
import { createPostgresRefusalStore } from './adapters/postgres/refusal-store';
import { createPostgresSettlementStore } from './adapters/postgres/settlement-store';
import { createPostgresUsageReader } from './adapters/postgres/usage-reader';
import { createPostgresUsageReconciler } from './adapters/postgres/usage-reconciler';
import type { UsageAggregatorEnvironment } from './service/environment';
import { createGenerationQueryModule } from './service/generation-query/module';
import { createUsageAggregatorModule, type UsageAggregatorPorts } from './service/usage-aggregator/module';

export interface OpenUsageAggregatorOptions extends Pick<
  UsageAggregatorPorts,
  'clock' | 'events' | 'log' | 'metrics'
> {
  readonly config: UsageAggregatorEnvironment;
  /** Connects to the migrated schema `usage`. */
  readonly pool: Pool;
}

/** The write side with its adapters, for every app that runs it. */
export function openUsageAggregatorModule({ config, pool, clock, ...options }: OpenUsageAggregatorOptions) {
  return createUsageAggregatorModule({
    ...options,
    store: createPostgresSettlementStore(pool),
    refusals: createPostgresRefusalStore(pool),
    reconciler: createPostgresUsageReconciler({ pool, clock }),
    clock,
    retentionDays: config.GATEWAY_GENERATION_RETENTION_DAYS,
  });
}

/** The read side with its adapter, for every app that runs it. `pool` connects to the migrated schema `usage`. */
export function openGenerationQueryModule({ pool }: { readonly pool: Pool }): GatewayModule {
  return createGenerationQueryModule({ reader: createPostgresUsageReader(pool), clock: systemClock });
}
