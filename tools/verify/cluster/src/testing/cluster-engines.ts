import { kafka, redis, type TestServer } from '@gateway/dev-infra';

/** What a test of a whole cluster needs beyond npm. */
export const clusterEngines: TestServer = {
  name: 'Redis or Kafka',
  howToGet: `${redis.howToGet} ${kafka.howToGet}`,
  isAvailable: () => redis.isAvailable() && kafka.isAvailable(),
};
