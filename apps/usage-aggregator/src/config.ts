import { databaseSettings, kafkaSettings, serviceSettings, targets } from '@gateway/process';
import { readConfig } from '@gateway/runtime';
import { usageAggregatorEnvironment } from '@gateway/usage';
import { z } from 'zod';

export const settings = z.object({
  ...serviceSettings,
  ...kafkaSettings,
  ...targets.auth,
  ...usageAggregatorEnvironment,
  ...databaseSettings,
});

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
