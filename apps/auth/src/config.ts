import { authEnvironment, requireWholeOidc } from '@gateway/auth';
import { mailEnvironment } from '@gateway/mail';
import { serviceSettings } from '@gateway/process';
import { databaseUrlSetting, readConfig } from '@gateway/runtime';
import { z } from 'zod';

export const settings = z
  .object({
    ...serviceSettings,
    ...authEnvironment,
    ...mailEnvironment,
    /** The database of organizations, keys and people. */
    DATABASE_URL: databaseUrlSetting,
  })
  .superRefine(requireWholeOidc);

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
