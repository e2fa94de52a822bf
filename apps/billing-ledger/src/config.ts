import { databaseUrlSetting, kafkaSettings, serviceSettings } from '@gateway/process';
import { readConfig } from '@gateway/runtime';
import { z } from 'zod';

const MAX_RETENTION_DAYS = 36_500;
/** A settlement may wait for longer than a day: in the spool, or for a database that is away. */
const MIN_CLOSED_HOLD_RETENTION_DAYS = 7;
const retentionDays = z.coerce.number().int().max(MAX_RETENTION_DAYS);

export const settings = z.object({
  ...serviceSettings,
  ...kafkaSettings,
  /** The ledger's own database, with the outbox of its announcements and its dead letters. */
  DATABASE_URL: databaseUrlSetting,
  GATEWAY_CLOSED_HOLD_RETENTION_DAYS: retentionDays.min(MIN_CLOSED_HOLD_RETENTION_DAYS).default(90),
  /** How long announcements stay in the outbox once they were passed on. */
  GATEWAY_EVENT_RETENTION_DAYS: retentionDays.min(1).default(7),
  /** Whether alerts of a low balance may be sent into private networks and by plain http. */
  GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
});

export type Config = z.output<typeof settings>;

export function loadConfig(): Config {
  return readConfig(settings, process.env);
}
