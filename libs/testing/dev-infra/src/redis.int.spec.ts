import { containerOf } from './container-server';
import { describeWith } from './describe-with';
import { startRedisContainer } from './redis-container';
import { localRedis, startLocalRedis } from './redis-process';
import { describeRedisServerSuite } from './testing/redis-server.contract';

describeWith(localRedis, 'a Redis server as a local program', () =>
  describeRedisServerSuite(startLocalRedis),
);
describeWith(containerOf('redis'), 'a Redis server in a container', () =>
  describeRedisServerSuite(startRedisContainer),
);
