// A separate entry, so that processes without Kafka do not load its client.
export { groupIdOf } from './kafka-consumer';
export { createKafkaEventLog, type KafkaEventLog, type KafkaEventLogOptions } from './kafka-event-log';
export { connectKafka, type KafkaCertificates, type KafkaConnection } from './kafka-connection';
export { KafkaUnavailableError } from './kafka-writer';
