import { auditLedger, type LedgerAudit } from '@gateway/ledger-audit';
import { GenerationFinished } from '@gateway/contracts/events';
import { eventually } from '@gateway/test-support';
import type { Pool } from 'pg';
import type { Outcome } from './chat-completion';

/** Longer than the deadline of every hold in these tests plus one run of the reaper. */
const SETTLEMENT_TIMEOUT_MS = 45_000;

/** Expects a consistent ledger, even while requests are running. */
export async function expectConsistentLedger(pool: Pool): Promise<LedgerAudit> {
  const audit = await auditLedger(pool);
  expect(audit.faults).toEqual([]);
  return audit;
}

/**
 * Waits until every hold is settled or voided and every event is consumed. Then expects:
 * - a consistent ledger;
 * - exactly one settlement for every generation in the event log;
 * - usage records that equal the ledger's charges, to the nano-dollar, also those of runs;
 * - no dead letters.
 */
export async function expectEverythingSettled(pool: Pool): Promise<LedgerAudit> {
  await eventually(
    'every hold is settled or voided, and every event is consumed',
    async () => ((await nothingPending(pool)) ? true : undefined),
    { timeoutMs: SETTLEMENT_TIMEOUT_MS, pollMs: 200 },
  ).catch(async (error: Error) => {
    const pending = (await pendingWork(pool)).map((row) => Object.values(row).join(' '));
    throw new Error([error.message, ...pending].join('\n'));
  });
  const audit = await expectConsistentLedger(pool);
  expect(audit.openHolds).toBe(0);
  expect(await finishedButNotSettled(pool)).toEqual([]);
  expect(await usageDifferences(pool)).toEqual([]);
  expect(await runDifferences(pool)).toEqual([]);
  expect(await rowsOf(pool, 'select topic, group_name, reason from event_log.dead_letters')).toEqual([]);
  return audit;
}

/** Whether there are no open holds and no unread events. */
export async function nothingPending(pool: Pool): Promise<boolean> {
  return (await pendingWork(pool)).every(({ count }) => count === 0n);
}

function pendingWork(pool: Pool): Promise<{ what: string; count: bigint; since: bigint | null }[]> {
  return rowsOf(
    pool,
    `select 'open holds' as what, count(*), min(deadline_unix_ms) as since
     from billing_ledger.holds where state = 'held'
     union all
     select 'events of ' || topic, t.last_position - g.position, null
     from event_log.consumer_groups g join event_log.topics t using (topic)`,
  );
}

/** Runs that hold something, or whose charges differ from those of their usage records. */
function runDifferences(pool: Pool): Promise<unknown[]> {
  return rowsOf(
    pool,
    `select run.run_id, run.held_nano_usd, run.spent_nano_usd, recorded.charged
     from billing_ledger.runs run
     full join (
       select organization_id, run_id, sum(charged_nano_usd) as charged
       from usage.generations where run_id is not null group by 1, 2
     ) recorded on recorded.organization_id = run.organization_id and recorded.run_id = run.run_id
     where coalesce(run.held_nano_usd, 0) <> 0 or coalesce(run.spent_nano_usd, 0) <> coalesce(recorded.charged, 0)`,
  );
}

/** Reads the events themselves, independent of the ledger's records. */
async function finishedButNotSettled(pool: Pool): Promise<string[]> {
  const events = await rowsOf<{ payload: Buffer }>(
    pool,
    `select payload from event_log.events where topic = 'generation.finished'`,
  );
  const settled = new Set(
    (
      await rowsOf<{ reference: string }>(
        pool,
        `select reference from billing_ledger.postings where kind = 'settlement'`,
      )
    ).map(({ reference }) => reference),
  );
  return events
    .map(({ payload }) => GenerationFinished.decode(payload).generationId)
    .filter((id) => !settled.has(id));
}

/** Generations that differ between the ledger and usage. */
function usageDifferences(pool: Pool): Promise<unknown[]> {
  return rowsOf(
    pool,
    `select id, h.hold_id, h.charged_nano_usd as charged, g.charged_nano_usd as reported
     from (select * from billing_ledger.holds where state = 'settled') h
     full join usage.generations g on g.id = h.hold_id
     where h.charged_nano_usd is distinct from g.charged_nano_usd
        or h.cost_nano_usd is distinct from g.cost_nano_usd
     union all
     select 'rollups', null, sums.charged, rollups.charged
     from (select coalesce(sum(charged_nano_usd), 0) as charged from usage.generations) sums,
          (select coalesce(sum(charged_nano_usd), 0) as charged from usage.usage_rollups) rollups
     where sums.charged <> rollups.charged
     union all
     select 'provider ' || provider, null, sums.charged, rollups.charged
     from (select provider collate "C" as provider, sum(charged_nano_usd) as charged from usage.generations group by 1) sums
     full join (select provider, sum(charged_nano_usd) as charged from usage.usage_provider_rollups
                group by 1) rollups using (provider)
     where sums.charged is distinct from rollups.charged
     union all
     select 'user ' || value, null, sums.charged, rollups.charged
     from (select external_user as value, sum(charged_nano_usd) as charged from usage.generations
           where external_user <> '' group by 1) sums
     full join (select value, sum(charged_nano_usd) as charged from usage.usage_value_rollups
                where dimension = 'user' group by 1) rollups using (value)
     where sums.charged is distinct from rollups.charged`,
  );
}

/** Expects that each finished response is charged once, at its stated cost. */
export async function expectExactCharges(pool: Pool, outcomes: readonly Outcome[]): Promise<void> {
  for (const outcome of outcomes) {
    if (outcome.kind !== 'finished') continue;
    const { id, costNanoUsd: cost } = outcome;
    expect({ id, ...(await holdOf(pool, id)) }).toEqual({ id, state: 'settled', cost, charged: cost });
  }
}

/** The ledger's record of a generation. */
export async function holdOf(pool: Pool, generationId: string) {
  const [hold] = await rowsOf<{ state: string; cost: bigint | null; charged: bigint | null }>(
    pool,
    `select state, cost_nano_usd as cost, charged_nano_usd as charged
     from billing_ledger.holds where hold_id = $1`,
    [generationId],
  );
  return hold;
}

/** Idempotency claims with more than one charged generation. */
export async function claimsChargedTwice(pool: Pool): Promise<unknown[]> {
  return rowsOf(
    pool,
    `select idempotency_scope, array_agg(hold_id) as generations from billing_ledger.holds
     where idempotency_scope is not null and charged_nano_usd > 0
     group by idempotency_scope having count(*) > 1`,
  );
}

export async function rowsOf<Row extends object>(
  pool: Pool,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await pool.query<Row>(sql, values)).rows;
}
