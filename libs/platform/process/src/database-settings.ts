import { databaseUrlSetting, queryTimeoutSetting } from '@gateway/database';
import type { z } from 'zod';

export const databaseSettings = {
  DATABASE_URL: databaseUrlSetting.describe(
    'PostgreSQL database of the service: `postgres://user:password@host:port/database`, with several hosts `@host1:port1,host2:port2/`. The embedded gateway starts its own PostgreSQL without it.',
  ),
  DATABASE_DIRECT_URL: databaseUrlSetting
    .optional()
    .describe(
      'The same database without the pooler, when `DATABASE_URL` leads to one in transaction mode. Used for migrations, notifications and session locks.',
    ),
  GATEWAY_DATABASE_QUERY_TIMEOUT_MS: queryTimeoutSetting,
};

export type DatabaseSettings = z.output<z.ZodObject<typeof databaseSettings>>;
