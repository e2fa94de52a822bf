import { databaseUrlSetting, kafkaSettings, serviceSettings } from '@gateway/process';
import { readConfig } from '@gateway/runtime';
import { z } from 'zod';

const MIN_RETENTION_DAYS = 31;
const MAX_RETENTION_DAYS = 36_500;

export const settings = z.object({
  ...serviceSettings,
  ...kafkaSettings,
  /** The usage domain's database, with the dead letters of this service. */
  DATABASE_URL: databaseUrlSetting,
  GATEWAY_GENERATION_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(MIN_RETENTION_DAYS)
    .max(MAX_RETENTION_DAYS)
    .default(400),
});

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
