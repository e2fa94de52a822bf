import { kafka, redis, type TestServer } from '@gateway/dev-infra';

/** Servers that must be installed for tests of a cluster. */
export const clusterDatastores: TestServer = {
  name: 'Redis or Kafka',
  howToGet: `${redis.howToGet} ${kafka.howToGet}`,
  isAvailable: () => redis.isAvailable() && kafka.isAvailable(),
};
