import { plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import type { HoldOutcome, HoldRequest } from '../../core/credit/hold';
import { batchCall } from './batch-call';
import { budgetsOfExtension } from './budgets-text';
import { holdOutcomeOf, type HoldRow } from './hold-credit';

const CALL = batchCall<HoldRequest>('extend_holds', [
  ['p_hold_ids', (holds) => textArray(holds, (hold) => hold.holdId)],
  ['p_organization_ids', (holds) => textArray(holds, (hold) => hold.organizationId)],
  ['p_amounts', (holds) => plainArray(holds, (hold) => hold.amountNanoUsd)],
  ['p_budgets', (holds) => textArray(holds, budgetsOfExtension)],
]);

const EXTEND_HOLDS = { name: 'billing_ledger.extend_holds', text: `select * from ${CALL.sql}` };

/** One statement in an implicit transaction: one round trip and one commit per batch. */
export async function extendHolds(pool: Pool, holds: readonly HoldRequest[]): Promise<HoldOutcome[]> {
  const { rows } = await pool.query<HoldRow>({ ...EXTEND_HOLDS, values: CALL.valuesOf(holds) });
  return holds.map((_, index) => holdOutcomeOf(rows[index]));
}
