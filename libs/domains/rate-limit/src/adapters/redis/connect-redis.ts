import { Redis, type RedisOptions } from 'ioredis';

export interface RedisConnectionOptions {
  /** `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string;
  /** Told of lost connections. ioredis makes new ones by itself. */
  readonly onError?: (error: Error) => void;
  /** After this long without an answer a command has failed; half a second when absent. It may still be carried out. */
  readonly commandTimeoutMs?: number;
}

const DEFAULT_COMMAND_TIMEOUT_MS = 500;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 1_000;
const RECONNECT_STEP_MS = 50;

/**
 * A connection for decisions that somebody waits for: what cannot be sent now,
 * or is not answered soon, fails, rather than to be carried out much later.
 */
export function connectRedis({
  url,
  onError = () => undefined,
  commandTimeoutMs = DEFAULT_COMMAND_TIMEOUT_MS,
}: RedisConnectionOptions): Redis {
  const options: RedisOptions = {
    commandTimeout: commandTimeoutMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * RECONNECT_STEP_MS, MAX_RECONNECT_DELAY_MS),
  };
  const redis = new Redis(url, options);
  redis.on('error', onError);
  return redis;
}
