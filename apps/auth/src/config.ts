import { peopleEnvironment, requireCompleteOidc } from '@gateway/people';
import { mailEnvironment } from '@gateway/mail';
import { databaseSettings, serviceSettings } from '@gateway/process';
import { originSetting, readConfig } from '@gateway/runtime';
import { webhookEnvironment } from '@gateway/webhooks';
import { z } from 'zod';

export const settings = z
  .object({
    ...serviceSettings,
    ...peopleEnvironment,
    ...mailEnvironment,
    ...webhookEnvironment,
    ...databaseSettings,
    GATEWAY_DASHBOARD_ORIGIN: originSetting
      .optional()
      .describe(
        'Origin at which browsers open the dashboard. Links in emails, and that of the command `operator`, point there. Without it they point to the origin that dashboard-api reports.',
      ),
  })
  .superRefine(requireCompleteOidc);

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
