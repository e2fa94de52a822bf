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
   * Of this replica alone, and it has to survive it: what is finished waits
   * here, in `spool`, while neither Kafka nor the ledger can be reached.
   */
  GATEWAY_STATE_DIR: z.string().default('.gateway'),
});

export type Config = z.output<typeof settings> & {
  /** Where keys of providers come from. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export function loadConfig(): Config {
  const environment = { ...process.env };
  const config = readConfig(settings, environment);
  checkModelsFile(config.GATEWAY_MODELS_FILE, environment);
  return { ...config, environment };
}
