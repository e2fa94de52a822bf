import { plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import type { HoldOutcome, HoldRequest } from '../../core/credit/hold';
import { batchCall } from './batch-call';
import { holdOutcomeOf, type HoldRow } from './hold-credit';

const CALL = batchCall<HoldRequest>('extend_holds', [
  ['p_hold_ids', (holds) => textArray(holds, (hold) => hold.holdId)],
  ['p_organization_ids', (holds) => textArray(holds, (hold) => hold.organizationId)],
  ['p_amounts', (holds) => plainArray(holds, (hold) => hold.amountNanoUsd)],
  ['p_organization_day_budgets', (holds) => plainArray(holds, (hold) => hold.organizationBudgets.day)],
  ['p_organization_month_budgets', (holds) => plainArray(holds, (hold) => hold.organizationBudgets.month)],
  ['p_organization_total_budgets', (holds) => plainArray(holds, (hold) => hold.organizationBudgets.total)],
  ['p_key_day_budgets', (holds) => plainArray(holds, (hold) => hold.keyBudgets.day)],
  ['p_key_month_budgets', (holds) => plainArray(holds, (hold) => hold.keyBudgets.month)],
  ['p_key_total_budgets', (holds) => plainArray(holds, (hold) => hold.keyBudgets.total)],
  ['p_project_day_budgets', (holds) => plainArray(holds, (hold) => hold.project?.budgets.day)],
  ['p_project_month_budgets', (holds) => plainArray(holds, (hold) => hold.project?.budgets.month)],
  ['p_project_total_budgets', (holds) => plainArray(holds, (hold) => hold.project?.budgets.total)],
]);

const EXTEND_HOLDS = { name: 'billing_ledger.extend_holds', text: `select * from ${CALL.sql}` };

/** One statement in an implicit transaction: one round trip and one commit per batch. */
export async function extendHolds(pool: Pool, holds: readonly HoldRequest[]): Promise<HoldOutcome[]> {
  const { rows } = await pool.query<HoldRow>({ ...EXTEND_HOLDS, values: CALL.valuesOf(holds) });
  return holds.map((_, index) => holdOutcomeOf(rows[index]));
}
