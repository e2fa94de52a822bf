// A separate entry point, so that processes with another store do not load the Redis client.
export {
  connectRedis,
  DEFAULT_COMMAND_TIMEOUT_MS,
  type RedisConnection,
  type RedisConnectionOptions,
} from './connect-redis';
export { countSlots } from './count-slots';
export {
  createRedisLimitStore,
  type RedisLimitStore,
  type RedisLimitStoreOptions,
} from './redis-limit-store';
export { parseRedisUrl, type RedisTarget } from './redis-url';
export { watchEvictionPolicy } from './watch-eviction-policy';
