export { usageAggregatorEnvironment } from './service/environment';
export { createPostgresSettlementStore } from './adapters/postgres/settlement-store';
export { createPostgresUsageReader } from './adapters/postgres/usage-reader';
export { usageMigrations } from './adapters/prisma/migrations';
export { USAGE_SCHEMA } from './adapters/postgres/usage-schema';
export { MAX_REPORT_DAYS } from './core/usage-report';
export type { SettlementStore, UsageReader } from './core/ports';
export { createGenerationQueryModule, type GenerationQueryPorts } from './service/generation-query/module';
export { createUsageAggregatorModule, type UsageAggregatorPorts } from './service/usage-aggregator/module';
