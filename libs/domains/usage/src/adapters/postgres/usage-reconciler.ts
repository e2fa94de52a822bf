import { DAY_MS, HOUR_MS, type Clock, type UnixMs } from '@gateway/base';
import { inTransaction } from '@gateway/database';
import type { ClientBase, Pool } from 'pg';
import type { ReconciliationRun, UsageReconciler } from '../../core/ports';
import type { Comparison, Subject } from '../../core/reconciliation/compare';
import type { ToldHour } from '../../core/reconciliation/settled-window';
import { compareSettlements, compareSums } from './compared-sums';
import { keepTold, noteCompared, readDifferences, readKnownSums, readTold } from './reconciliation-tables';

/**
 * Sums of hours further back are not compared with generations: late ones may
 * come when the others of their hour are past their retention.
 */
const SUMS_COMPARED_FOR_MS = 7 * DAY_MS;

const LOCK = `select pg_try_advisory_xact_lock(hashtextextended(current_schema || '.reconcile_usage', 0)) as locked`;

/** Compares in the database, so that no row of history travels. */
export function createPostgresUsageReconciler({
  pool,
  clock,
}: {
  pool: Pool;
  clock: Clock;
}): UsageReconciler {
  async function reconcile(client: ClientBase, maxHours: number): Promise<ReconciliationRun | undefined> {
    const { rows } = await client.query<{ locked: boolean }>(LOCK);
    if (!rows[0]?.locked) return undefined;
    // Plans of small tables would be made for good, and read the large ones whole later.
    await client.query('set local enable_seqscan = off');
    const now = clock.now();
    const told = await readTold(client, maxHours);
    const known = await readKnownSums(client);
    const compared: Comparison[] = [];
    if (told.length > 0) compared.push(...(await compareSettlements(client, told)));
    for (const kind of ['hourly_sums', 'daily_sums'] as const) {
      const subjects = subjectsOf(kind, told, known, (now - SUMS_COMPARED_FOR_MS) as UnixMs);
      if (subjects.length > 0) compared.push(...(await compareSums(client, kind, subjects)));
    }
    const comparedUntilUnixMs = await noteCompared(client, { compared, told, now });
    return { hours: told.length, comparedUntilUnixMs, differences: await readDifferences(client) };
  }

  return {
    keep: (told) => keepTold(pool, told),
    reconcile: (maxHours) =>
      // One snapshot for everything that is compared.
      inTransaction(pool, (client) => reconcile(client, maxHours), { isolation: 'repeatable read' }),
  };
}

/** The hours or days of what was told, and those that are known to differ; each once. */
function subjectsOf(
  kind: 'hourly_sums' | 'daily_sums',
  told: readonly ToldHour[],
  known: readonly Subject[],
  since: UnixMs,
): Subject[] {
  const spanMs = kind === 'hourly_sums' ? HOUR_MS : DAY_MS;
  const subjects = new Map<string, Subject>();
  const add = (organizationId: string, startsUnixMs: UnixMs) =>
    subjects.set(`${organizationId} ${startsUnixMs}`, {
      organizationId,
      kind,
      startsUnixMs,
      fromUnixMs: 0 as UnixMs,
    });
  for (const { organizationId, hourUnixMs } of told) {
    if (hourUnixMs >= since) add(organizationId, (Math.floor(hourUnixMs / spanMs) * spanMs) as UnixMs);
  }
  for (const one of known) if (one.kind === kind) add(one.organizationId, one.startsUnixMs);
  return [...subjects.values()];
}
