import { edgeProxyEnvironment } from '@gateway/edge-proxy';
import { requireBothTlsFiles } from '@gateway/http-server';
import { generationGraceSetting, serviceSettings, targets } from '@gateway/process';
import { originSetting, readConfig } from '@gateway/runtime';
import { z } from 'zod';

export const settings = z
  .object({
    ...serviceSettings,
    ...generationGraceSetting,
    ...edgeProxyEnvironment,
    ...targets.auth,
    ...targets.rateLimit,
    ...targets.billingLedger,
    ...targets.inferenceRouter,
    ...targets.generationQuery,
    ...targets.usageAggregator,
    GATEWAY_DASHBOARD_ORIGIN: originSetting
      .optional()
      .describe('Origin of the dashboard, whose playground may call this edge from a browser.'),
  })
  .superRefine(requireBothTlsFiles);

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
