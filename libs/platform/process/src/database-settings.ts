import { databaseUrlSetting } from '@gateway/runtime';
import type { z } from 'zod';

export const databaseSettings = {
  DATABASE_URL: databaseUrlSetting.describe(
    'PostgreSQL database of the service: `postgres://user:password@host:port/database`. The embedded gateway starts its own PostgreSQL without it.',
  ),
  DATABASE_DIRECT_URL: databaseUrlSetting
    .optional()
    .describe(
      'The same database without the pooler, when `DATABASE_URL` leads to one in transaction mode. Used for migrations, notifications and session locks.',
    ),
};

export type DatabaseSettings = z.output<z.ZodObject<typeof databaseSettings>>;
