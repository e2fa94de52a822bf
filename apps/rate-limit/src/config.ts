import { serviceSettings } from '@gateway/process';
import { readConfig } from '@gateway/runtime';
import { z } from 'zod';

const MAX_REPLICAS = 1_000;

export const settings = z.object({
  ...serviceSettings,
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' })
    .describe(
      'Redis that counts requests, tokens and concurrent requests: `redis://` or, with TLS, `rediss://`.',
    ),
  GATEWAY_LIMITS_WITHOUT_REDIS: z
    .enum(['refuse', 'share'])
    .default('refuse')
    .describe(
      'While Redis is unavailable, `refuse` every request, or let each replica admit a `share` of each limit.',
    ),
  GATEWAY_RATE_LIMIT_REPLICAS: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_REPLICAS)
    .default(2)
    .describe('Number of rate-limit replicas: with `share`, each limit is divided by it.'),
});

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
