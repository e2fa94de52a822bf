export { eventLogEnvironment, eventLogLimitsOf } from './postgres/environment';
export * from './dead-letters';
export { deadLetterIncidents } from './dead-letter-incidents';
export * from './event-log';
export { EventLogOverflowError } from './delivery/batching-appender';
export { InvalidEventError } from './delivery/valid-events';
export { type EventLogLimits } from './delivery/limits';
export { createDeadLetterService } from './rpc/dead-letter-service';
export {
  createPostgresEventLog,
  type PostgresEventLog,
  type PostgresEventLogOptions,
} from './postgres/postgres-event-log';
export { EVENT_LOG_SCHEMA, eventLogSchema } from './postgres/sql/schema';
export { createResponseKey, isResponseKey, decryptResponse, encryptResponse } from './encrypted-response';
export { relayTopic, type RelayPorts } from './relay';
