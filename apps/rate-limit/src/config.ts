import { serviceSettings } from '@gateway/process';
import { DEFAULT_COMMAND_TIMEOUT_MS, parseRedisUrl } from '@gateway/rate-limit/redis';
import { readConfig } from '@gateway/runtime';
import { z } from 'zod';

const MAX_REPLICAS = 1_000;
const MIN_COMMAND_TIMEOUT_MS = 10;
/** Below the time that an edge waits for an admission. */
const MAX_COMMAND_TIMEOUT_MS = 1_500;

export const settings = z.object({
  ...serviceSettings,
  REDIS_URL: z
    .string({ error: 'is required' })
    .superRefine((url, { addIssue }) => {
      try {
        parseRedisUrl(url);
      } catch (error) {
        addIssue({ code: 'custom', message: (error as Error).message });
      }
    })
    .describe(
      'Redis that counts requests, tokens and concurrent requests: `redis://[user:password@]host[:port][/database]` for ' +
        'one endpoint, `redis+sentinel://[user:password@]host[:port],…/master-name[/database]` for Sentinel, ' +
        '`redis+cluster://[user:password@]host[:port],…` for Redis Cluster. With TLS: `rediss://`, `rediss+sentinel://`, ' +
        '`rediss+cluster://`. Credentials of the Sentinels themselves: `?sentinel_username=…&sentinel_password=…`.',
    ),
  REDIS_COMMAND_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(MIN_COMMAND_TIMEOUT_MS)
    .max(MAX_COMMAND_TIMEOUT_MS)
    .default(DEFAULT_COMMAND_TIMEOUT_MS)
    .describe(
      'How long a command may wait for the response of Redis, in milliseconds. Set it above the round-trip time.',
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
