import type { DatabaseSchema } from '@gateway/database';
import baseline from './schema.sql';

export const USAGE_SCHEMA = 'usage';

/** Used by the usage domain only. */
export const usageSchema: DatabaseSchema = {
  schema: USAGE_SCHEMA,
  migrations: [{ name: '0.1.0_baseline', sql: baseline }],
  functions: {},
};
