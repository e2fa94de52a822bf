import type { DatabaseSchema } from '@gateway/database';
import baseline from './schema.sql';

export const USAGE_SCHEMA = 'usage';

/** The usage domain owns everything in it. */
export const usageSchema: DatabaseSchema = {
  schema: USAGE_SCHEMA,
  migrations: [{ name: '0.1.0_baseline', sql: baseline }],
  functions: {},
};
