import { peopleEnvironment, requireCompleteOidc } from '@gateway/people';
import { mailEnvironment } from '@gateway/mail';
import { databaseSettings, serviceSettings } from '@gateway/process';
import { readConfig } from '@gateway/runtime';
import { z } from 'zod';

export const settings = z
  .object({
    ...serviceSettings,
    ...peopleEnvironment,
    ...mailEnvironment,
    ...databaseSettings,
  })
  .superRefine(requireCompleteOidc);

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
