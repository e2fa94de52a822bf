import { databaseUrlSetting } from '@gateway/runtime';
import type { z } from 'zod';

/** Where a service keeps its data. */
export const databaseSettings = {
  /** The domain's own database, or that of a pooler before it. */
  DATABASE_URL: databaseUrlSetting,
  /**
   * Past the pooler, when DATABASE_URL is that of one that lends connections for
   * a transaction: for migrations, notifications and locks that last.
   */
  DATABASE_DIRECT_URL: databaseUrlSetting.optional(),
};

export type DatabaseSettings = z.output<z.ZodObject<typeof databaseSettings>>;
