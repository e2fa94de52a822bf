import { describeLimitStoreSimulation } from '../../core/limit-store-simulation.contract';
import { createMemoryLimitStore } from './memory-limit-store';

const SEEDS = 30;

describeLimitStoreSimulation(
  'in memory',
  async (options) => ({ store: createMemoryLimitStore(options), close: async () => undefined }),
  SEEDS,
);
