import { millisecondsSetting } from '@gateway/runtime';
import { z } from 'zod';
import { parseDatabaseUrl } from './database-url';
import { DEFAULT_QUERY_TIMEOUT_MS } from './pool';

const MIN_QUERY_TIMEOUT_MS = 2_000;

export const databaseUrlSetting = z.string().superRefine((url, context) => {
  try {
    parseDatabaseUrl(url);
  } catch (error) {
    context.addIssue((error as Error).message);
  }
});

export const queryTimeoutSetting = millisecondsSetting
  .min(MIN_QUERY_TIMEOUT_MS)
  .default(DEFAULT_QUERY_TIMEOUT_MS)
  .describe(
    'Milliseconds without a result after which a statement fails and its connection is closed. PostgreSQL cancels it a second earlier. Migrations are exempt.',
  );
