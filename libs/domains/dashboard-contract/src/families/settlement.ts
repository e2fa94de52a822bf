import { z } from 'zod';
import { time, usd } from '../fields';

/** The health of the billing pipeline, and the reconciliation of its results. */

const number = z.int().min(0);

export const openHolds = z.object({
  count: number,
  held_usd: usd,
  oldest_age_ms: number.nullable().meta({ description: 'Null without open holds.' }),
  overdue: number.meta({ description: 'Past their deadline and not yet voided.' }),
});

export const spool = z.object({ generations: number, bytes: number });

export const settlementHealth = z
  .object({
    observed_at: time,
    open_holds: openHolds.nullable().meta({ description: 'Null when the ledger is unavailable.' }),
    event_log: z
      .array(
        z.object({
          topic: z.string(),
          group: z.string(),
          lag: number.meta({ description: 'Events not yet handled.' }),
        }),
      )
      .nullable()
      .meta({ description: 'Null when it is unavailable.' }),
    spool: spool.nullable().meta({
      description:
        'Finished generations on disk, waiting for the event log; null when the router is unavailable.',
    }),
  })
  .meta({ id: 'SettlementHealth' });

const difference = {
  organization_id: z.string(),
  first_seen_at: time,
};

const known = number.meta({ description: 'The number of known differences, counted up to 1,000.' });

const sums = z.object({ generations: number, cost_usd: usd, charged_usd: usd });

export const usageReconciliation = z.object({
  compared_until: time.nullable().meta({
    description: 'Settlements before this time have been compared; null before the first comparison.',
  }),
  known_differences: known,
  differences: z
    .array(
      z.object({
        ...difference,
        kind: z.string().meta({ description: 'The compared figure.' }),
        starts_at: time.meta({ description: 'The start of the hour or day.' }),
        expected: sums,
        found: sums,
      }),
    )
    .meta({ description: 'The oldest differences.' }),
});

export const ledgerReconciliation = z.object({
  last_run_at: time.nullable(),
  reconciled_until: time.nullable().meta({
    description: 'Every difference before this time has been found; null before the first full pass.',
  }),
  known_differences: known,
  differences: z
    .array(
      z.object({
        ...difference,
        kind: z.string().meta({ description: 'The compared figure.' }),
        generation_id: z.string().nullable().meta({ description: 'Set for settlements.' }),
        expected_usd: usd,
        found_usd: usd,
      }),
    )
    .meta({ description: 'The oldest differences.' }),
});

export const reconciliation = z
  .object({
    observed_at: time,
    ledger: ledgerReconciliation
      .nullable()
      .meta({ description: 'Balances compared with postings; null when the ledger is unavailable.' }),
    usage: usageReconciliation
      .nullable()
      .meta({ description: 'Usage compared with settlements; null when usage is unavailable.' }),
  })
  .meta({ id: 'Reconciliation' });
