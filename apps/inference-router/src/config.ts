import { checkModelsFile, inferenceRouterEnvironment, requireSecretsKey } from '@gateway/inference-router';
import {
  databaseSettings,
  generationGraceSetting,
  kafkaSettings,
  serviceSettings,
  targets,
} from '@gateway/process';
import { readConfig } from '@gateway/runtime';
import { z } from 'zod';

export const settings = z
  .object({
    ...serviceSettings,
    ...generationGraceSetting,
    ...kafkaSettings,
    ...targets.auth,
    ...inferenceRouterEnvironment,
    ...targets.billingLedger,
    ...databaseSettings,
    GATEWAY_STATE_DIR: z
      .string()
      .default('.gateway')
      .describe('Folder of the settlement spool. Each replica needs a persistent volume of its own.'),
  })
  .superRefine(requireSecretsKey);

export type Config = z.output<typeof settings> & {
  /** Source of the API keys of providers. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export function loadConfig(): Config {
  const environment = { ...process.env };
  const config = readConfig(settings, environment);
  if (config.GATEWAY_CATALOGUE === 'file') checkModelsFile(config.GATEWAY_MODELS_FILE, environment);
  return { ...config, environment };
}
