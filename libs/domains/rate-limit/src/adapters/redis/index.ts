// Apart from the rest of the library: who counts elsewhere does not load a client of Redis.
export { connectRedis, type RedisConnectionOptions } from './connect-redis';
export { createRedisLimitStore, type RedisLimitStoreOptions } from './redis-limit-store';
