import { serviceSettings } from '@gateway/process';
import { databaseUrlSetting, readConfig } from '@gateway/runtime';
import { z } from 'zod';

export const settings = z.object({
  ...serviceSettings,
  /** The usage domain's database; a read replica will do. */
  DATABASE_URL: databaseUrlSetting,
});

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
