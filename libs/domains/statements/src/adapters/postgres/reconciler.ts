import { MINUTE_MS, type Clock, type UnixMs } from '@gateway/base';
import type { TransactionalAppender } from '@gateway/events';
import type { Pool, PoolClient } from 'pg';
import type { Difference, LedgerReconciler, LedgerReconciliation, ReconciliationRun } from '../../core/ports';
import { announceWindows } from './announce-windows';
import { withRetries } from '@gateway/billing-ledger';

/** Far longer than any transaction and than the clock skew of two processes. */
const SETTLED_AFTER_MS = 10 * MINUTE_MS;
/** Bounds the result when most of the ledger is inconsistent. */
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
    limit $1`,
};

/** Differences shown to operators. */
const MAX_SHOWN = 50;

const PROGRESS = `
  select last_run_unix_ms, reconciled_until_unix_ms,
    (select count(*) from (select from reconciliation_differences limit ${MAX_DIFFERENCES}) known) as known
  from reconciliation_progress`;

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
  /** The appender of the settlements, so that windows follow them in the same log. */
  readonly appender: TransactionalAppender<PoolClient>;
  readonly clock: Clock;
}

/** Compares inside the database, so that no history is transferred. */
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
    return {
      organizations: run.organizations,
      reconciledUntil: Number(run.reconciled_until_unix_ms) as UnixMs,
      differences: await readDifferences(pool, MAX_DIFFERENCES),
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

/** The results of the runs of all processes. */
export async function readReconciliation(pool: Pool): Promise<LedgerReconciliation> {
  const { rows } = await pool.query<{
    last_run_unix_ms: bigint;
    reconciled_until_unix_ms: bigint;
    known: bigint;
  }>(PROGRESS);
  const [progress] = rows;
  if (!progress)
    return { lastRun: undefined, reconciledUntil: undefined, knownDifferences: 0, differences: [] };
  return {
    lastRun: timeOrNever(progress.last_run_unix_ms),
    reconciledUntil: timeOrNever(progress.reconciled_until_unix_ms),
    knownDifferences: Number(progress.known),
    differences: await readDifferences(pool, MAX_SHOWN),
  };
}

/** Oldest first. */
async function readDifferences(pool: Pool, limit: number): Promise<readonly Difference[]> {
  const { rows } = await pool.query<DifferenceRow>({ ...DIFFERENCES, values: [limit] });
  return rows.map((row) => ({
    organizationId: row.organization_id,
    kind: row.kind,
    generationId: row.reference === '' ? undefined : row.reference,
    expectedNanoUsd: BigInt(row.expected),
    foundNanoUsd: BigInt(row.found),
    firstSeenAt: Number(row.first_seen_unix_ms) as UnixMs,
  }));
}

function timeOrNever(unixMs: bigint): UnixMs | undefined {
  return unixMs === 0n ? undefined : (Number(unixMs) as UnixMs);
}
