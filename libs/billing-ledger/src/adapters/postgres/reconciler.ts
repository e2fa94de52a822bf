import { MINUTE_MS, type Clock, type UnixMs } from '@gateway/base';
import type { TransactionalAppender } from '@gateway/events';
import type { Pool, PoolClient } from 'pg';
import type { Difference, LedgerReconciler, ReconciliationRun } from '../../core/ports';
import { announceWindows } from './announce-windows';
import { withRetries } from './retry';

/** Far longer than any transaction lives, and than clocks of two processes are apart. */
const SETTLED_AFTER_MS = 10 * MINUTE_MS;
/** Differences that are read: a broken ledger breaks everywhere. */
const MAX_DIFFERENCES = 1_000;

const RECONCILE = {
  name: 'billing_ledger.reconcile_accounts',
  text: 'select * from reconcile_accounts($1, $2, $3)',
};

const DIFFERENCES = {
  name: 'billing_ledger.reconciliation_differences',
  text: `select organization_id, kind, reference, expected_nano_usd::text as expected, found_nano_usd::text as found,
      first_seen_unix_ms
    from reconciliation_differences order by first_seen_unix_ms, organization_id, kind, reference
    limit ${MAX_DIFFERENCES}`,
};

interface DifferenceRow {
  readonly organization_id: string;
  readonly kind: Difference['kind'];
  readonly reference: string;
  readonly expected: string;
  readonly found: string;
  readonly first_seen_unix_ms: bigint;
}

export interface PostgresReconcilerPorts {
  readonly pool: Pool;
  /** The one that settlements are announced with: windows follow them in the same log. */
  readonly appender: TransactionalAppender<PoolClient>;
  readonly clock: Clock;
}

/** Compares in the database, so that no row of history travels. */
export function createPostgresReconciler(ports: PostgresReconcilerPorts): LedgerReconciler {
  const { pool, clock } = ports;
  async function reconcile(limit: number): Promise<ReconciliationRun | undefined> {
    const now = clock.now();
    const { rows } = await pool.query<{ organizations: number; reconciled_until_unix_ms: bigint }>({
      ...RECONCILE,
      values: [now, now - SETTLED_AFTER_MS, limit],
    });
    const [run] = rows;
    if (!run) return undefined;
    const { rows: differences } = await pool.query<DifferenceRow>(DIFFERENCES);
    return {
      organizations: run.organizations,
      reconciledUntilUnixMs: Number(run.reconciled_until_unix_ms) as UnixMs,
      differences: differences.map((row) => ({
        organizationId: row.organization_id,
        kind: row.kind,
        generationId: row.reference === '' ? undefined : row.reference,
        expectedNanoUsd: BigInt(row.expected),
        foundNanoUsd: BigInt(row.found),
        firstSeenUnixMs: Number(row.first_seen_unix_ms) as UnixMs,
      })),
    };
  }

  return {
    reconcile: (limit) => withRetries(() => reconcile(limit)),
    announceWindows: (limit, announce) =>
      withRetries(() =>
        announceWindows(ports, { untilUnixMs: clock.now() - SETTLED_AFTER_MS, limit, announce }),
      ),
  };
}
