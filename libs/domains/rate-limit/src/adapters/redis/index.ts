// A separate entry point, so that processes with another store do not load the Redis client.
export { connectRedis, type RedisConnectionOptions } from './connect-redis';
export { createRedisLimitStore, type RedisLimitStoreOptions } from './redis-limit-store';
