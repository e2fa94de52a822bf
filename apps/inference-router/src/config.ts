import { checkModelsFile, inferenceRouterEnvironment } from '@gateway/inference-router';
import { databaseSettings, kafkaSettings, serviceSettings, targets } from '@gateway/process';
import { readConfig } from '@gateway/runtime';
import { z } from 'zod';

export const settings = z.object({
  ...serviceSettings,
  ...kafkaSettings,
  ...inferenceRouterEnvironment,
  ...targets.billingLedger,
  ...databaseSettings,
  /**
   * The state folder of this replica, on a persistent volume. Its `spool` stores
   * finished generations while both Kafka and the ledger are unavailable.
   */
  GATEWAY_STATE_DIR: z.string().default('.gateway'),
});

export type Config = z.output<typeof settings> & {
  /** The environment with the providers' keys. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export function loadConfig(): Config {
  const environment = { ...process.env };
  const config = readConfig(settings, environment);
  checkModelsFile(config.GATEWAY_MODELS_FILE, environment);
  return { ...config, environment };
}
