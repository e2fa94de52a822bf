import { DAY_MS, HOUR_MS, type Clock, type UnixMs } from '@gateway/base';
import { inTransaction } from '@gateway/database';
import type { ClientBase, Pool } from 'pg';
import type { ReconciliationRun, UsageReconciler } from '../../core/ports';
import { SUM_KINDS, type Comparison, type Subject, type SumKind } from '../../core/reconciliation/compare';
import type { AnnouncedHour } from '../../core/reconciliation/settled-window';
import { compareSettlements, compareSums } from './compared-sums';
import {
  storeAnnounced,
  recordComparisons,
  readDifferences,
  readDifferingSums,
  readAnnounced,
} from './reconciliation-tables';

/**
 * Sums of older hours are not compared with generations, because a late settlement
 * may arrive when the other generations of its hour are past their retention.
 */
const SUMS_COMPARED_FOR_MS = 7 * DAY_MS;

const LOCK = `select pg_try_advisory_xact_lock(hashtextextended(current_schema || '.reconcile_usage', 0)) as locked`;

/** Compares inside the database, so that no history is transferred. */
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
    // A cached plan from when the tables were small would scan them fully later.
    await client.query('set local enable_seqscan = off');
    const now = clock.now();
    const announced = await readAnnounced(client, maxHours);
    const known = await readDifferingSums(client);
    const compared: Comparison[] = [];
    if (announced.length > 0) compared.push(...(await compareSettlements(client, announced)));
    for (const kind of SUM_KINDS) {
      const subjects = subjectsOf(kind, announced, known, (now - SUMS_COMPARED_FOR_MS) as UnixMs);
      if (subjects.length > 0) compared.push(...(await compareSums(client, kind, subjects)));
    }
    const comparedUntil = await recordComparisons(client, { compared, announced, now });
    return {
      hours: announced.length,
      comparedUntil,
      differences: await readDifferences(client),
    };
  }

  return {
    storeAnnounced: (announced) => storeAnnounced(pool, announced),
    reconcile: (maxHours) =>
      // One snapshot for everything that is compared.
      inTransaction(pool, (client) => reconcile(client, maxHours), { isolation: 'repeatable read' }),
  };
}

/** The distinct hours or days of the announcements, and those that differed before. */
function subjectsOf(
  kind: SumKind,
  announced: readonly AnnouncedHour[],
  known: readonly Subject[],
  since: UnixMs,
): Subject[] {
  const spanMs = kind === 'hourly_sums' || kind === 'hourly_values' ? HOUR_MS : DAY_MS;
  const subjects = new Map<string, Subject>();
  const add = (organizationId: string, startsAt: UnixMs) =>
    subjects.set(`${organizationId} ${startsAt}`, {
      organizationId,
      kind,
      startsAt,
      from: 0 as UnixMs,
    });
  for (const { organizationId, startsAt } of announced) {
    if (startsAt >= since) add(organizationId, (Math.floor(startsAt / spanMs) * spanMs) as UnixMs);
  }
  for (const one of known) if (one.kind === kind) add(one.organizationId, one.startsAt);
  return [...subjects.values()];
}
