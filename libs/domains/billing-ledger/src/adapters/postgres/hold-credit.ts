import { encodePrices, nanoUsd } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import type { BudgetPeriod, BudgetScope, HoldOutcome, HoldRequest } from '../../core/credit/hold';
import { batchCall } from './batch-call';

const CALL = batchCall<HoldRequest>('hold_credit', [
  ['p_hold_ids', (holds) => textArray(holds, (hold) => hold.holdId)],
  ['p_organization_ids', (holds) => textArray(holds, (hold) => hold.organizationId)],
  ['p_key_ids', (holds) => textArray(holds, (hold) => hold.keyId)],
  ['p_amounts', (holds) => plainArray(holds, (hold) => hold.amountNanoUsd)],
  ['p_prices', (holds) => textArray(holds, (hold) => encodePrices(hold.prices))],
  ['p_organization_day_budgets', (holds) => plainArray(holds, (hold) => hold.organizationBudgets.day)],
  ['p_organization_month_budgets', (holds) => plainArray(holds, (hold) => hold.organizationBudgets.month)],
  ['p_organization_total_budgets', (holds) => plainArray(holds, (hold) => hold.organizationBudgets.total)],
  ['p_key_day_budgets', (holds) => plainArray(holds, (hold) => hold.keyBudgets.day)],
  ['p_key_month_budgets', (holds) => plainArray(holds, (hold) => hold.keyBudgets.month)],
  ['p_key_total_budgets', (holds) => plainArray(holds, (hold) => hold.keyBudgets.total)],
  ['p_created_unix_ms', (holds) => plainArray(holds, (hold) => hold.createdUnixMs)],
  ['p_lifetimes_ms', (holds) => plainArray(holds, (hold) => hold.lifetimeMs)],
  ['p_idempotency_scopes', (holds) => textArray(holds, (hold) => hold.idempotencyScope)],
  ['p_run_ids', (holds) => textArray(holds, (hold) => hold.run?.runId)],
  ['p_run_budgets', (holds) => plainArray(holds, (hold) => hold.run?.budgetNanoUsd)],
  ['p_project_ids', (holds) => textArray(holds, (hold) => hold.project?.projectId)],
  ['p_project_day_budgets', (holds) => plainArray(holds, (hold) => hold.project?.budgets.day)],
  ['p_project_month_budgets', (holds) => plainArray(holds, (hold) => hold.project?.budgets.month)],
  ['p_project_total_budgets', (holds) => plainArray(holds, (hold) => hold.project?.budgets.total)],
]);

const HOLD_CREDIT = { name: 'billing_ledger.hold_credit', text: `select * from ${CALL.sql}` };

const HELD: HoldOutcome = { kind: 'held' };

/** A decided hold or extension. */
export interface HoldRow {
  readonly outcome: string;
  readonly available_nano_usd: bigint | null;
  readonly budget_scope: BudgetScope | null;
  readonly budget_period: BudgetPeriod | null;
  readonly budget_nano_usd: bigint | null;
  readonly used_nano_usd: bigint | null;
  readonly held_nano_usd: bigint | null;
}

/** One statement in an implicit transaction: one round trip and one commit per batch. */
export async function holdCredit(pool: Pool, holds: readonly HoldRequest[]): Promise<HoldOutcome[]> {
  const { rows } = await pool.query<HoldRow>({ ...HOLD_CREDIT, values: CALL.valuesOf(holds) });
  return holds.map((_, index) => holdOutcomeOf(rows[index]));
}

export function holdOutcomeOf(row: HoldRow | undefined): HoldOutcome {
  switch (row?.outcome) {
    case 'held':
      return HELD;
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
      };
    default:
      throw new Error(`a hold has the outcome "${row?.outcome}"`);
  }
}
