import { encodePrices, nanoUsd, type BudgetPeriod, type BudgetScope, type UnixMs } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import type { HoldOutcome, HoldRequest } from '../../core/credit/hold';
import { batchCall } from './batch-call';
import { budgetsText, countersText } from './budgets-text';
import { isUniqueViolation } from './retry';

const CALL = batchCall<HoldRequest>(
  'hold_credit',
  [
    ['p_hold_ids', (holds) => textArray(holds, (hold) => hold.holdId)],
    ['p_organization_ids', (holds) => textArray(holds, (hold) => hold.organizationId)],
    ['p_key_ids', (holds) => textArray(holds, (hold) => hold.keyId)],
    ['p_project_ids', (holds) => textArray(holds, (hold) => hold.projectId)],
    ['p_run_ids', (holds) => textArray(holds, (hold) => hold.runId)],
    [
      'p_run_budgets',
      (holds) =>
        plainArray(holds, ({ budgets }) => budgets.find(({ scope }) => scope === 'run')?.amountNanoUsd),
    ],
    ['p_amounts', (holds) => plainArray(holds, (hold) => hold.amountNanoUsd)],
    ['p_prices', (holds) => textArray(holds, (hold) => encodePrices(hold.prices))],
    ['p_created_unix_ms', (holds) => plainArray(holds, (hold) => hold.createdAt)],
    ['p_lifetimes_ms', (holds) => plainArray(holds, (hold) => hold.lifetimeMs)],
    ['p_idempotency_scopes', (holds) => textArray(holds, (hold) => hold.idempotencyScope)],
    ['p_counters', (holds) => textArray(holds, countersText)],
  ],
  ['p_budgets', 'p_ids_are_new'],
);
const HOLD_CREDIT = { name: 'billing_ledger.hold_credit', text: `select * from ${CALL.sql}` };

const HELD: HoldOutcome = { kind: 'held' };

/** A refused hold or extension. */
export interface HoldRow {
  readonly position: number;
  readonly outcome: string;
  readonly available_nano_usd: bigint | null;
  readonly budget_scope: BudgetScope | null;
  readonly budget_period: BudgetPeriod | null;
  readonly budget_nano_usd: bigint | null;
  readonly used_nano_usd: bigint | null;
  readonly held_nano_usd: bigint | null;
  readonly budget_hours: number | null;
  readonly frees_unix_ms: bigint | null;
  readonly budget_model: string | null;
}

/**
 * One statement in an implicit transaction: one round trip and one commit per batch. Nearly all ids are new, so they are
 * looked up only after the batch was refused for one that is not.
 */
export async function holdCredit(pool: Pool, holds: readonly HoldRequest[]): Promise<HoldOutcome[]> {
  try {
    return await decide(pool, holds, true);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return decide(pool, holds, false);
  }
}

async function decide(pool: Pool, holds: readonly HoldRequest[], idsAreNew: boolean): Promise<HoldOutcome[]> {
  const values = CALL.valuesOf(holds, budgetsText(holds), idsAreNew);
  const { rows } = await pool.query<HoldRow>({ ...HOLD_CREDIT, values });
  return holdOutcomes(holds, rows);
}

/** The rows are those of the holds that are not held. */
export function holdOutcomes(holds: readonly HoldRequest[], rows: readonly HoldRow[]): HoldOutcome[] {
  const outcomes = holds.map((): HoldOutcome => HELD);
  for (const row of rows) outcomes[row.position - 1] = refusalOf(row);
  return outcomes;
}

function refusalOf(row: HoldRow): HoldOutcome {
  switch (row.outcome) {
    case 'foreign':
      return { kind: 'foreign' };
    case 'closed':
      return { kind: 'closed' };
    case 'insufficient_credits':
      return {
        kind: 'insufficient_credits',
        availableNanoUsd: nanoUsd(row.available_nano_usd ?? 0n),
        heldNanoUsd: nanoUsd(row.held_nano_usd ?? 0n),
      };
    case 'unknown_run':
      return { kind: 'unknown_run' };
    case 'budget_exceeded':
      return {
        kind: 'budget_exceeded',
        scope: row.budget_scope ?? 'organization',
        period: row.budget_period ?? 'total',
        limitNanoUsd: nanoUsd(row.budget_nano_usd ?? 0n),
        usedNanoUsd: nanoUsd(row.used_nano_usd ?? 0n),
        heldNanoUsd: nanoUsd(row.held_nano_usd ?? 0n),
        ...(row.budget_hours !== null && { hours: row.budget_hours }),
        ...(row.frees_unix_ms !== null && { freesAt: Number(row.frees_unix_ms) as UnixMs }),
        ...(row.budget_model !== null && { model: row.budget_model }),
      };
    default:
      throw new Error(`a hold has the outcome "${row.outcome}"`);
  }
}
