// Apart from the rest of the library: who keeps events elsewhere does not load a client of Kafka.
export { groupIdOf } from './kafka-consumer';
export { createKafkaEventLog, type KafkaEventLog, type KafkaEventLogOptions } from './kafka-event-log';
export type { KafkaConnection } from './kafka-connection';
export { KafkaUnavailableError } from './kafka-writer';
