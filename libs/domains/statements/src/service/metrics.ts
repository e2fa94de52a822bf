import type { UnixMs } from '@gateway/base';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Difference } from '../core/ports';

/** The instruments of reconciliation. */
export interface ReconciliationMetrics {
  reconciled(run: { organizations: number; ranUnixMs: UnixMs; reconciledUntilUnixMs: UnixMs }): void;
  windowsAnnounced(windows: number): void;
  /** How many of this kind there are now. */
  differences(kind: Difference['kind'], count: number): void;
}

export function createReconciliationMetrics(registry: Registry): ReconciliationMetrics {
  const registers = [registry];
  const lastRun = new Gauge({
    name: 'gateway_billing_ledger_reconciliation_last_run_timestamp_seconds',
    help: 'When this process last compared books with their postings; 0: never.',
    registers,
  });
  const watermark = new Gauge({
    name: 'gateway_billing_ledger_reconciliation_watermark_timestamp_seconds',
    help: 'What was wrong in the books before this time has been found; 0: not yet through all of them.',
    registers,
  });
  const reconciledOrganizations = new Counter({
    name: 'gateway_billing_ledger_reconciliation_organizations_total',
    help: 'Organizations whose books were compared.',
    registers,
  });
  const windows = new Counter({
    name: 'gateway_billing_ledger_reconciliation_windows_announced_total',
    help: 'Times of an organization whose settlements were added up for the usage to be compared with.',
    registers,
  });
  const differing = new Gauge({
    name: 'gateway_billing_ledger_reconciliation_differences',
    help: 'Figures that do not agree with the postings, by kind, as of the last run.',
    labelNames: ['kind'],
    registers,
  });
  return {
    reconciled({ organizations, ranUnixMs, reconciledUntilUnixMs }) {
      reconciledOrganizations.inc(organizations);
      lastRun.set(ranUnixMs / 1_000);
      watermark.set(reconciledUntilUnixMs / 1_000);
    },
    windowsAnnounced: (count) => windows.inc(count),
    differences: (kind, count) => differing.labels(kind).set(count),
  };
}
