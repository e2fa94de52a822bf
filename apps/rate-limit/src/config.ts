import { serviceSettings } from '@gateway/process';
import { readConfig } from '@gateway/runtime';
import { z } from 'zod';

const MAX_REPLICAS = 1_000;

export const settings = z.object({
  ...serviceSettings,
  /** The counters of all replicas. */
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' }),
  /**
   * While Redis is unavailable: `refuse` every request, since limits could not be
   * enforced, or admit a `share` of each limit: the limit divided by the replicas.
   */
  GATEWAY_LIMITS_WITHOUT_REDIS: z.enum(['refuse', 'share']).default('refuse'),
  GATEWAY_RATE_LIMIT_REPLICAS: z.coerce.number().int().min(1).max(MAX_REPLICAS).default(2),
});

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
