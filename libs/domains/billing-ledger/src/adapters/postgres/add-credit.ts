import type { Pool } from 'pg';
import type { AddCreditOutcome, Credit } from '../../core/credit/balance';

const ADD_CREDIT = {
  name: 'billing_ledger.add_credit',
  text: 'select add_credit($1, $2, $3, $4) as outcome',
};

export async function addCredit(pool: Pool, credit: Credit): Promise<AddCreditOutcome> {
  const { rows } = await pool.query<{ outcome: AddCreditOutcome }>({
    ...ADD_CREDIT,
    values: [credit.creditId, credit.organizationId, credit.amountNanoUsd, credit.note],
  });
  const outcome = rows[0]?.outcome;
  if (!outcome) throw new Error('add_credit returned no row');
  return outcome;
}
