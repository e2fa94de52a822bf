import type { UnixMs } from '@gateway/base';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Difference } from '../core/ports';

/** The metrics of reconciliation. */
export interface ReconciliationMetrics {
  reconciled(run: { organizations: number; ranAt: UnixMs; reconciledUntil: UnixMs }): void;
  windowsAnnounced(windows: number): void;
  /** The current number of differences of this kind. */
  differences(kind: Difference['kind'], count: number): void;
}

export function createReconciliationMetrics(registry: Registry): ReconciliationMetrics {
  const registers = [registry];
  const lastRun = new Gauge({
    name: 'gateway_billing_ledger_reconciliation_last_run_timestamp_seconds',
    help: 'When this process last compared balances with postings; 0: never.',
    registers,
  });
  const watermark = new Gauge({
    name: 'gateway_billing_ledger_reconciliation_watermark_timestamp_seconds',
    help: 'All differences from before this time have been found; 0: no complete round yet.',
    registers,
  });
  const reconciledOrganizations = new Counter({
    name: 'gateway_billing_ledger_reconciliation_organizations_total',
    help: 'Organizations compared with their postings.',
    registers,
  });
  const windows = new Counter({
    name: 'gateway_billing_ledger_reconciliation_windows_announced_total',
    help: 'Settlement windows announced for comparison with usage.',
    registers,
  });
  const differing = new Gauge({
    name: 'gateway_billing_ledger_reconciliation_differences',
    help: 'Amounts that do not match the postings, by kind, as of the last run.',
    labelNames: ['kind'],
    registers,
  });
  return {
    reconciled({ organizations, ranAt, reconciledUntil }) {
      reconciledOrganizations.inc(organizations);
      lastRun.set(ranAt / 1_000);
      watermark.set(reconciledUntil / 1_000);
    },
    windowsAnnounced: (count) => windows.inc(count),
    differences: (kind, count) => differing.labels(kind).set(count),
  };
}
