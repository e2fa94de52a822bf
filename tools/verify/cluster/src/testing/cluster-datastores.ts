import { localKafka, localRedis, type TestServer } from '@gateway/dev-infra';

/** Servers that must be installed for tests of a cluster. */
export const clusterDatastores: TestServer = {
  name: 'Redis or Kafka',
  installHint: `${localRedis.installHint} ${localKafka.installHint}`,
  isAvailable: () => localRedis.isAvailable() && localKafka.isAvailable(),
};
