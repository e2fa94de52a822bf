import type { DatabaseSchema } from '@gateway/database';
import baseline from './schema.sql';

/** Named in every statement, since appends also run in transactions of other domains. */
export const EVENT_LOG_SCHEMA = 'event_log';

/** The event log owns everything in it. */
export const eventLogSchema: DatabaseSchema = {
  schema: EVENT_LOG_SCHEMA,
  migrations: [{ name: '0.1.0_baseline', sql: baseline }],
  functions: {},
};
