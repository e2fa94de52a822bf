export {
  createDegradingLimitStore,
  type DegradingLimitStoreOptions,
  type DegradingLimitStorePorts,
} from './adapters/degrading/degrading-limit-store';
export {
  createMemoryLimitStore,
  type MemoryLimitStore,
  type MemoryLimitStoreOptions,
} from './adapters/memory/memory-limit-store';
export type { LimitStore } from './core';
export { createRateLimitModule, type RateLimitPorts } from './service/module';
