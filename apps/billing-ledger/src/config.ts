import { billingLedgerEnvironment } from '@gateway/billing-ledger';
import { eventLogEnvironment } from '@gateway/events';
import { mailEnvironment } from '@gateway/mail';
import { kafkaSettings, serviceSettings } from '@gateway/process';
import { databaseUrlSetting, readConfig } from '@gateway/runtime';
import { z } from 'zod';

export const settings = z.object({
  ...serviceSettings,
  ...kafkaSettings,
  ...billingLedgerEnvironment,
  ...eventLogEnvironment,
  ...mailEnvironment,
  /** The ledger's own database, with the outbox of its announcements and its dead letters. */
  DATABASE_URL: databaseUrlSetting,
});

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
