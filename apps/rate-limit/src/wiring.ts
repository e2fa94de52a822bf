import type { ServiceDeps, ServiceWiring } from '@gateway/process';
import {
  createDegradingLimitStore,
  createMemoryLimitStore,
  createRateLimitModule,
  type LimitStore,
} from '@gateway/rate-limit';
import { connectRedis, createRedisLimitStore } from '@gateway/rate-limit/redis';
import { systemClock as clock } from '@gateway/runtime';
import type { Config } from './config';

export async function wireRateLimit({
  config,
  log,
  metrics,
  life,
}: ServiceDeps<Config>): Promise<ServiceWiring> {
  const redis = connectRedis({
    url: config.REDIS_URL,
    onError: (error) => log.warn({ err: error }, 'Redis connection error'),
  });
  life.onStop(async () => redis.disconnect());
  const shared = createRedisLimitStore({
    redis,
    onFailure: (error) => log.warn({ err: error }, 'could not decide admissions'),
  });
  const isDegrading = config.GATEWAY_LIMITS_WITHOUT_REDIS === 'share';

  function createDegradingStore(): LimitStore {
    return createDegradingLimitStore(
      { shared, local: createMemoryLimitStore({ clock }), clock },
      { replicas: config.GATEWAY_RATE_LIMIT_REPLICAS },
    );
  }

  return {
    modules: [createRateLimitModule({ store: isDegrading ? createDegradingStore() : shared, metrics })],
    ready: () => isDegrading || redis.status === 'ready',
  };
}
