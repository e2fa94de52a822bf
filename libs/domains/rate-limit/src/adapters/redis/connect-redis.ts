import { Redis, type RedisOptions } from 'ioredis';

export interface RedisConnectionOptions {
  /** `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string;
  /** Called when the connection is lost. ioredis reconnects automatically. */
  readonly onError?: (error: Error) => void;
  /** A command without a response fails after this long, but may still run. Default 500 ms. */
  readonly commandTimeoutMs?: number;
}

const DEFAULT_COMMAND_TIMEOUT_MS = 500;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 1_000;
const RECONNECT_STEP_MS = 50;

/**
 * A connection for decisions in the request path: a command that cannot be sent
 * now, or gets no response in time, fails instead of running much later.
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
