import type { DatabaseSchema } from '@gateway/database';
import checkKeyLimits from './functions/check_key_limits.sql';
import baseline from './migrations/0.1.0_baseline/migration.sql';

export const AUTH_SCHEMA = 'auth';

/** The schema "auth", which the auth domain owns. */
export const authSchema: DatabaseSchema = {
  schema: AUTH_SCHEMA,
  migrations: [{ name: '0.1.0_baseline', sql: baseline }],
  functions: { check_key_limits: checkKeyLimits },
};
