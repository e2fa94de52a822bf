import { kafka, redis, type TestServer } from '@gateway/dev-infra';

/** Servers that must be installed for tests of a cluster. */
export const clusterDatastores: TestServer = {
  name: 'Redis or Kafka',
  installHint: `${redis.installHint} ${kafka.installHint}`,
  isAvailable: () => redis.isAvailable() && kafka.isAvailable(),
};
