import { describeLimitStoreSimulationSuite } from '../../testing/limit-store.simulation';
import { createMemoryLimitStore } from './memory-limit-store';

const SEEDS = 30;

describeLimitStoreSimulationSuite(
  'in memory',
  async (options) => ({ store: createMemoryLimitStore(options), close: async () => undefined }),
  SEEDS,
);
