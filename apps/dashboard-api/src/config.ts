import { dashboardApiEnvironment } from '@gateway/dashboard-api';
import { requireBothTlsFiles } from '@gateway/http-server';
import { serviceSettings, targets } from '@gateway/process';
import { readConfig } from '@gateway/runtime';
import { z } from 'zod';

export const settings = z
  .object({
    ...serviceSettings,
    ...dashboardApiEnvironment,
    ...targets.auth,
    ...targets.billingLedger,
    ...targets.inferenceRouter,
    ...targets.generationQuery,
    ...targets.usageAggregator,
  })
  .superRefine(requireBothTlsFiles);

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
