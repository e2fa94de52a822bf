import { createLogSampler } from '@gateway/base';
import type { ServiceDeps, ServiceWiring } from '@gateway/process';
import {
  createDegradingLimitStore,
  createMemoryLimitStore,
  createRateLimitModule,
  type LimitStore,
} from '@gateway/rate-limit';
import { connectRedis, createRedisLimitStore, watchEvictionPolicy } from '@gateway/rate-limit/redis';
import { systemClock as clock } from '@gateway/runtime';
import type { Config } from './config';

/** Every request fails while Redis is unavailable. */
const LOG_INTERVAL_MS = 10_000;

export async function wireRateLimit({
  config,
  log,
  metrics,
  life,
}: ServiceDeps<Config>): Promise<ServiceWiring> {
  const sampler = createLogSampler(() => performance.now(), { everyMs: LOG_INTERVAL_MS });
  const warn = (message: string) => (error: unknown) => {
    const suppressed = sampler.sample(message);
    if (suppressed !== undefined) log.warn({ err: error, suppressed }, message);
  };
  const redis = connectRedis({
    url: config.REDIS_URL,
    commandTimeoutMs: config.REDIS_COMMAND_TIMEOUT_MS,
    onError: warn('Redis connection error'),
  });
  life.onStop(async () => redis.disconnect());
  watchEvictionPolicy({ redis, metrics, log });
  const shared = createRedisLimitStore({ redis, onFailure: warn('could not decide admissions') });
  const isDegrading = config.GATEWAY_LIMITS_WITHOUT_REDIS === 'share';

  function createDegradingStore(): LimitStore {
    return createDegradingLimitStore(
      { shared, local: createMemoryLimitStore({ clock }), clock },
      { replicas: config.GATEWAY_RATE_LIMIT_REPLICAS },
    );
  }

  async function isWritable(): Promise<boolean> {
    try {
      await shared.probe();
      return true;
    } catch (error) {
      warn('Redis accepts no writes')(error);
      return false;
    }
  }

  return {
    modules: [createRateLimitModule({ store: isDegrading ? createDegradingStore() : shared, metrics })],
    ready: () => isDegrading || isWritable(),
  };
}
