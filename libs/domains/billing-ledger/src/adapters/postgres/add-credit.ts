import { insertAuditEntry } from '@gateway/audit';
import type { AuditEntry } from '@gateway/base';
import { inTransaction } from '@gateway/database';
import type { Pool } from 'pg';
import type { AddCreditOutcome, Credit } from '../../core/credit/balance';
import { BILLING_LEDGER_SCHEMA } from './sql/schema';

const ADD_CREDIT = {
  name: 'billing_ledger.add_credit',
  text: 'select add_credit($1, $2, $3, $4) as outcome',
};

/** Writes the audit entry only with new credit, so a repeated call leaves one entry. */
export function addCredit(pool: Pool, credit: Credit, audit: AuditEntry): Promise<AddCreditOutcome> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ outcome: AddCreditOutcome | 'repeated' }>({
      ...ADD_CREDIT,
      values: [credit.creditId, credit.organizationId, credit.amountNanoUsd, credit.note],
    });
    const outcome = rows[0]?.outcome;
    if (!outcome) throw new Error('add_credit returned no row');
    if (outcome === 'added') await insertAuditEntry(client, BILLING_LEDGER_SCHEMA, audit);
    return outcome === 'repeated' ? 'added' : outcome;
  });
}
