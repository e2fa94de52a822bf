import type { UnixMs } from '@gateway/base';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { HoldOutcome } from '../core/credit/hold';
import type { Difference, SettlementReport } from '../core/ports';
import type { SettlementOrigin } from '../core/settlement/settlement';

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** The ledger's instruments, with their labels bound once. */
export interface LedgerMetrics {
  holdBatch(outcomes: readonly HoldOutcome[]): void;
  settlementBatch(report: SettlementReport): void;
  voided(by: 'caller' | 'reaper', holds: number): void;
  claimsTrimmed(claims: number): void;
  reconciled(run: { organizations: number; ranUnixMs: UnixMs; reconciledUntilUnixMs: UnixMs }): void;
  windowsAnnounced(windows: number): void;
  /** How many of this kind there are now. */
  differences(kind: Difference['kind'], count: number): void;
}

export function createLedgerMetrics(registry: Registry): LedgerMetrics {
  const registers = [registry];
  const holds = new Counter({
    name: 'gateway_billing_ledger_holds_total',
    help: 'Holds decided, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const settlements = new Counter({
    name: 'gateway_billing_ledger_settlements_total',
    help: 'Finished generations, by how they were booked.',
    labelNames: ['outcome'],
    registers,
  });
  const voids = new Counter({
    name: 'gateway_billing_ledger_voids_total',
    help: 'Holds voided, by whom: the caller, or the reaper after their deadline.',
    labelNames: ['by'],
    registers,
  });
  const uncollected = new Counter({
    name: 'gateway_billing_ledger_uncollected_nano_usd_total',
    help: 'Cost that no balance was left to pay, in nano-dollars.',
    registers,
  });
  const trimmed = new Counter({
    name: 'gateway_billing_ledger_claims_trimmed_total',
    help: 'Idempotency claims forgotten after their retention.',
    registers,
  });
  const lastRun = new Gauge({
    name: 'gateway_ledger_reconciliation_last_run_timestamp_seconds',
    help: 'When this process last compared books with their postings; 0: never.',
    registers,
  });
  const watermark = new Gauge({
    name: 'gateway_ledger_reconciliation_watermark_timestamp_seconds',
    help: 'What was wrong in the books before this time has been found; 0: not yet through all of them.',
    registers,
  });
  const reconciledOrganizations = new Counter({
    name: 'gateway_ledger_reconciliation_organizations_total',
    help: 'Organizations whose books were compared.',
    registers,
  });
  const windows = new Counter({
    name: 'gateway_ledger_reconciliation_windows_announced_total',
    help: 'Times of an organization whose settlements were added up for the usage to be compared with.',
    registers,
  });
  const differing = new Gauge({
    name: 'gateway_ledger_reconciliation_differences',
    help: 'Figures that do not agree with the postings, by kind, as of the last run.',
    labelNames: ['kind'],
    registers,
  });
  const batchSize = new Histogram({
    name: 'gateway_billing_ledger_batch_size',
    help: 'Items that one transaction decided.',
    labelNames: ['operation'],
    buckets: BATCH_SIZES,
    registers,
  });

  const holdsBy: Record<HoldOutcome['kind'], Counter.Internal> = {
    held: holds.labels('held'),
    insufficient_credits: holds.labels('insufficient_credits'),
    daily_budget_exceeded: holds.labels('daily_budget_exceeded'),
    foreign: holds.labels('foreign'),
    closed: holds.labels('closed'),
    impossible: holds.labels('impossible'),
  };
  const settledBy: Record<SettlementOrigin | 'duplicate' | 'rejected' | 'waived', Counter.Internal> = {
    held: settlements.labels('held'),
    late: settlements.labels('late'),
    unseen: settlements.labels('unseen'),
    waived: settlements.labels('waived'),
    duplicate: settlements.labels('duplicate'),
    rejected: settlements.labels('rejected'),
  };
  const voidedBy = { caller: voids.labels('caller'), reaper: voids.labels('reaper') };
  const holdBatchSize = batchSize.labels('hold');
  const settleBatchSize = batchSize.labels('settle');

  return {
    holdBatch(outcomes) {
      holdBatchSize.observe(outcomes.length);
      for (const outcome of outcomes) holdsBy[outcome.kind].inc();
    },
    settlementBatch({ settlements: booked, duplicates, rejected }) {
      settleBatchSize.observe(booked.length + duplicates + rejected.length);
      for (const settlement of booked) {
        settledBy[settlement.isWaived ? 'waived' : settlement.origin].inc();
        if (!settlement.isWaived && settlement.costNanoUsd > settlement.chargedNanoUsd) {
          uncollected.inc(Number(settlement.costNanoUsd - settlement.chargedNanoUsd));
        }
      }
      settledBy.duplicate.inc(duplicates);
      settledBy.rejected.inc(rejected.length);
    },
    voided: (by, count) => voidedBy[by].inc(count),
    claimsTrimmed: (count) => trimmed.inc(count),
    reconciled({ organizations, ranUnixMs, reconciledUntilUnixMs }) {
      reconciledOrganizations.inc(organizations);
      lastRun.set(ranUnixMs / 1_000);
      watermark.set(reconciledUntilUnixMs / 1_000);
    },
    windowsAnnounced: (count) => windows.inc(count),
    differences: (kind, count) => differing.labels(kind).set(count),
  };
}
