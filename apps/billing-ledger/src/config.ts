import { billingLedgerEnvironment } from '@gateway/billing-ledger';
import { eventLogEnvironment } from '@gateway/events';
import { mailEnvironment } from '@gateway/mail';
import { databaseSettings, kafkaSettings, serviceSettings, targets } from '@gateway/process';
import { originSetting, readConfig } from '@gateway/runtime';
import { secretsEnvironment } from '@gateway/secrets';
import { webhookEnvironment } from '@gateway/webhooks';
import { z } from 'zod';

export const settings = z.object({
  ...serviceSettings,
  ...kafkaSettings,
  ...targets.auth,
  ...billingLedgerEnvironment,
  ...webhookEnvironment,
  ...secretsEnvironment,
  ...eventLogEnvironment,
  ...mailEnvironment,
  ...databaseSettings,
  GATEWAY_DASHBOARD_ORIGIN: originSetting
    .optional()
    .describe(
      'Origin at which browsers open the dashboard. Links in emails point there; without it they have none.',
    ),
});

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
