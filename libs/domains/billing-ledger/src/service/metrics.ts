import type { UnixMs } from '@gateway/base';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { HoldOutcome } from '../core/credit/hold';
import type { LedgerHealth, SettlementReport } from '../core/ports';
import type { SettlementOrigin } from '../core/settlement/settlement';

const DELAY_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 500];

/** The ledger's metrics. */
export interface LedgerMetrics {
  holdBatch(outcomes: readonly HoldOutcome[]): void;
  extensionBatch(outcomes: readonly HoldOutcome[]): void;
  settlementBatch(report: SettlementReport): void;
  /** @param durationMs from the end of a generation until its settlement. */
  settledAfter(durationMs: number): void;
  voided(by: 'caller' | 'reaper', holds: number): void;
  claimsDeleted(claims: number): void;
  holdsOpen(health: LedgerHealth, now: UnixMs): void;
}

export function createLedgerMetrics(registry: Registry): LedgerMetrics {
  const registers = [registry];
  const holds = new Counter({
    name: 'gateway_billing_ledger_holds_total',
    help: 'Holds decided, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const extensions = new Counter({
    name: 'gateway_billing_ledger_hold_extensions_total',
    help: 'Extensions of elastic holds decided, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const settlements = new Counter({
    name: 'gateway_billing_ledger_settlements_total',
    help: 'Finished generations, by outcome of their settlement.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const settlementDelay = new Histogram({
    name: 'gateway_billing_ledger_settlement_delay_seconds',
    help: "Time from the provider's last event of a generation until its settlement.",
    buckets: DELAY_BUCKETS_S,
    registers,
  });
  const voids = new Counter({
    name: 'gateway_billing_ledger_voids_total',
    help: 'Holds voided, by reason: released by the edge, or expired at their deadline.',
    labelNames: ['reason'],
    registers,
  });
  const uncollected = new Counter({
    name: 'gateway_billing_ledger_uncollected_nano_usd_total',
    help: 'Cost that neither the balance nor the budget of the run covered, in nano-dollars.',
    registers,
  });
  const deletedClaims = new Counter({
    name: 'gateway_billing_ledger_claims_deleted_total',
    help: 'Idempotency claims deleted after their retention.',
    registers,
  });
  const openHolds = new Gauge({
    name: 'gateway_billing_ledger_open_holds',
    help: 'Open holds in the database. Every replica reports the same number.',
    registers,
  });
  const overdueHolds = new Gauge({
    name: 'gateway_billing_ledger_overdue_holds',
    help: 'Open holds past their deadline.',
    registers,
  });
  const oldestHold = new Gauge({
    name: 'gateway_billing_ledger_oldest_hold_age_seconds',
    help: 'Age of the oldest open hold; 0 without open holds.',
    registers,
  });
  const batchSize = new Histogram({
    name: 'gateway_billing_ledger_batch_size',
    help: 'Items per transaction.',
    labelNames: ['operation'] as const,
    buckets: BATCH_SIZES,
    registers,
  });

  const heldBy = (outcome: HoldOutcome['kind']) => holds.labels({ outcome });
  const holdsBy: Record<HoldOutcome['kind'], Counter.Internal> = {
    held: heldBy('held'),
    insufficient_credits: heldBy('insufficient_credits'),
    budget_exceeded: heldBy('budget_exceeded'),
    unknown_run: heldBy('unknown_run'),
    foreign: heldBy('foreign'),
    closed: heldBy('closed'),
    invalid: heldBy('invalid'),
  };
  type Outcome = SettlementOrigin | 'duplicate' | 'rejected' | 'waived';
  const settledAs = (outcome: Outcome) => settlements.labels({ outcome });
  const settledBy: Record<Outcome, Counter.Internal> = {
    held: settledAs('held'),
    late: settledAs('late'),
    no_hold: settledAs('no_hold'),
    waived: settledAs('waived'),
    duplicate: settledAs('duplicate'),
    rejected: settledAs('rejected'),
  };
  const voidedBy = { caller: voids.labels('released'), reaper: voids.labels('expired') };
  const holdBatchSize = batchSize.labels({ operation: 'hold' });
  const extensionBatchSize = batchSize.labels({ operation: 'extend' });
  const settleBatchSize = batchSize.labels({ operation: 'settle' });

  return {
    holdBatch(outcomes) {
      holdBatchSize.observe(outcomes.length);
      for (const outcome of outcomes) holdsBy[outcome.kind].inc();
    },
    extensionBatch(outcomes) {
      extensionBatchSize.observe(outcomes.length);
      for (const { kind: outcome } of outcomes) extensions.inc({ outcome });
    },
    settlementBatch({ settlements: settled, duplicates, rejected }) {
      settleBatchSize.observe(settled.length + duplicates + rejected.length);
      for (const settlement of settled) {
        settledBy[settlement.isWaived ? 'waived' : settlement.origin].inc();
        if (!settlement.isWaived && settlement.costNanoUsd > settlement.chargedNanoUsd) {
          uncollected.inc(Number(settlement.costNanoUsd - settlement.chargedNanoUsd));
        }
      }
      settledBy.duplicate.inc(duplicates);
      settledBy.rejected.inc(rejected.length);
    },
    settledAfter: (durationMs) => settlementDelay.observe(Math.max(0, durationMs) / 1_000),
    voided: (by, count) => voidedBy[by].inc(count),
    claimsDeleted: (count) => deletedClaims.inc(count),
    holdsOpen: (health, now) => {
      openHolds.set(Number(health.openHolds));
      overdueHolds.set(Number(health.overdueHolds));
      oldestHold.set(health.oldestHold === undefined ? 0 : (now - health.oldestHold) / 1_000);
    },
  };
}
