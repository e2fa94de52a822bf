import { DAY_MS } from '@gateway/base';
import { daysSetting } from '@gateway/runtime';
import type { z } from 'zod';

/** A settlement can be delayed by more than a day: in the spool, or while a database is unavailable. */
const MIN_CLOSED_HOLD_RETENTION_DAYS = 7;
const CLOSED_HOLD_RETENTION_DAYS = 90;

/** Settings of every app that runs this module. */
export const billingLedgerEnvironment = {
  GATEWAY_CLOSED_HOLD_RETENTION_DAYS: daysSetting
    .min(MIN_CLOSED_HOLD_RETENTION_DAYS)
    .default(CLOSED_HOLD_RETENTION_DAYS)
    .describe(
      'Days for which the ledger keeps a closed hold; at least 7. A settlement that arrives later is rejected. Postings and daily totals are never deleted.',
    ),
};

export type BillingLedgerEnvironment = z.output<z.ZodObject<typeof billingLedgerEnvironment>>;

/** The settings of the ledger's adapters. */
export function billingLedgerSettingsOf(values: BillingLedgerEnvironment) {
  return {
    closedHoldRetentionMs: values.GATEWAY_CLOSED_HOLD_RETENTION_DAYS * DAY_MS,
  };
}
