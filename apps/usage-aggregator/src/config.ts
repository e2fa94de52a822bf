import { kafkaSettings, serviceSettings } from '@gateway/process';
import { databaseUrlSetting, readConfig } from '@gateway/runtime';
import { usageAggregatorEnvironment } from '@gateway/usage';
import { z } from 'zod';

export const settings = z.object({
  ...serviceSettings,
  ...kafkaSettings,
  ...usageAggregatorEnvironment,
  /** The usage domain's database, with the dead letters of this service. */
  DATABASE_URL: databaseUrlSetting,
});

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
