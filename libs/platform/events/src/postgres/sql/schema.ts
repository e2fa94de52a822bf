import { AUDIT_ENTRIES_TABLE } from '@gateway/audit';
import type { DatabaseSchema } from '@gateway/database';
import advanceConsumerOffsets from './functions/advance_consumer_offsets.sql';
import baseline from './schema.sql';

/** Part of every table name, because appends also run in transactions of other domains. */
export const EVENT_LOG_SCHEMA = 'event_log';

/** Used by the event log only. */
export const eventLogSchema: DatabaseSchema = {
  schema: EVENT_LOG_SCHEMA,
  migrations: [{ name: '0.1.0_baseline', sql: `${baseline}\n${AUDIT_ENTRIES_TABLE}` }],
  functions: { advance_consumer_offsets: advanceConsumerOffsets },
};
