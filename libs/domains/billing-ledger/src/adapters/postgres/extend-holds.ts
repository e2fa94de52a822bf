import { plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import type { HoldOutcome, HoldRequest } from '../../core/credit/hold';
import { batchCall } from './batch-call';
import { budgetsText } from './budgets-text';
import { holdOutcomes, type HoldRow } from './hold-credit';

const CALL = batchCall<HoldRequest>(
  'extend_holds',
  [
    ['p_hold_ids', (holds) => textArray(holds, (hold) => hold.holdId)],
    ['p_organization_ids', (holds) => textArray(holds, (hold) => hold.organizationId)],
    ['p_amounts', (holds) => plainArray(holds, (hold) => hold.amountNanoUsd)],
  ],
  ['p_budgets'],
);
const EXTEND_HOLDS = { name: 'billing_ledger.extend_holds', text: `select * from ${CALL.sql}` };

/** One statement in an implicit transaction: one round trip and one commit per batch. */
export async function extendHolds(pool: Pool, holds: readonly HoldRequest[]): Promise<HoldOutcome[]> {
  const values = CALL.valuesOf(holds, budgetsText(holds));
  const { rows } = await pool.query<HoldRow>({ ...EXTEND_HOLDS, values });
  return holdOutcomes(holds, rows);
}
