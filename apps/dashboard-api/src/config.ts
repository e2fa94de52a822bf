import { dashboardApiEnvironment } from '@gateway/dashboard-api';
import { requireBothTlsFiles } from '@gateway/http-server';
import { serviceSettings, targets } from '@gateway/process';
import { inferenceApis } from '@gateway/public-api';
import { namesSetting, readConfig } from '@gateway/runtime';
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
    GATEWAY_ENDPOINTS: namesSetting(inferenceApis)
      .default(['chat'])
      .describe('The inference endpoints of the edge, for which the dashboard shows examples.'),
  })
  .superRefine(requireBothTlsFiles);

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
