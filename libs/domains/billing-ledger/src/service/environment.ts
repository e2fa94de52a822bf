import { DAY_MS } from '@gateway/base';
import { daysSetting, flagSetting } from '@gateway/runtime';
import type { z } from 'zod';

/** A settlement may wait for longer than a day: in the spool, or for a database that is away. */
const MIN_CLOSED_HOLD_RETENTION_DAYS = 7;
const CLOSED_HOLD_RETENTION_DAYS = 90;

/** Settings of each app that runs this module. */
export const billingLedgerEnvironment = {
  GATEWAY_CLOSED_HOLD_RETENTION_DAYS: daysSetting
    .min(MIN_CLOSED_HOLD_RETENTION_DAYS)
    .default(CLOSED_HOLD_RETENTION_DAYS),
  /** Whether alerts of a low balance may be sent into private networks and by plain http. */
  GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES: flagSetting.default(false),
};

/** What the ledger's adapters want to know of the settings. */
export function billingLedgerSettingsOf(values: z.output<z.ZodObject<typeof billingLedgerEnvironment>>) {
  return {
    closedHoldRetentionMs: values.GATEWAY_CLOSED_HOLD_RETENTION_DAYS * DAY_MS,
    allowPrivateAddresses: values.GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES,
  };
}
