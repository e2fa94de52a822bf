import { databaseUrlSetting } from '@gateway/runtime';
import type { z } from 'zod';

export const databaseSettings = {
  /** The service's database, directly or through a connection pooler. */
  DATABASE_URL: databaseUrlSetting,
  /**
   * A direct URL, if DATABASE_URL is that of a pooler in transaction mode. Used
   * for migrations, LISTEN and session-level locks.
   */
  DATABASE_DIRECT_URL: databaseUrlSetting.optional(),
};

export type DatabaseSettings = z.output<z.ZodObject<typeof databaseSettings>>;
