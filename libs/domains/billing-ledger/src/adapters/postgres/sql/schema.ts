import type { DatabaseSchema } from '@gateway/database';
import addCredit from './functions/add_credit.sql';
import assertNeverClosed from './functions/assert_never_closed.sql';
import bookSettlements from './functions/book_settlements.sql';
import claimIdempotencyKey from './functions/claim_idempotency_key.sql';
import closeIdempotencyClaims from './functions/close_idempotency_claims.sql';
import compareWithPostings from './functions/compare_with_postings.sql';
import correctCredit from './functions/correct_credit.sql';
import holdCredit from './functions/hold_credit.sql';
import leastIdAt from './functions/least_id_at.sql';
import lockAccounts from './functions/lock_accounts.sql';
import openSettlements from './functions/open_settlements.sql';
import reconcileAccounts from './functions/reconcile_accounts.sql';
import releaseIdempotencyClaims from './functions/release_idempotency_claims.sql';
import renewIdempotencyClaims from './functions/renew_idempotency_claims.sql';
import settleHeld from './functions/settle_held.sql';
import tellSettlements from './functions/tell_settlements.sql';
import trimIdempotencyClaims from './functions/trim_idempotency_claims.sql';
import voidHolds from './functions/void_holds.sql';
import voidOverdueHolds from './functions/void_overdue_holds.sql';
import baseline from './schema.sql';

export const BILLING_LEDGER_SCHEMA = 'billing_ledger';

/** The ledger owns everything in it. */
export const billingLedgerSchema: DatabaseSchema = {
  schema: BILLING_LEDGER_SCHEMA,
  migrations: [{ name: '0.1.0_baseline', sql: baseline }],
  functions: {
    add_credit: addCredit,
    assert_never_closed: assertNeverClosed,
    book_settlements: bookSettlements,
    claim_idempotency_key: claimIdempotencyKey,
    close_idempotency_claims: closeIdempotencyClaims,
    compare_with_postings: compareWithPostings,
    correct_credit: correctCredit,
    hold_credit: holdCredit,
    least_id_at: leastIdAt,
    lock_accounts: lockAccounts,
    open_settlements: openSettlements,
    reconcile_accounts: reconcileAccounts,
    release_idempotency_claims: releaseIdempotencyClaims,
    renew_idempotency_claims: renewIdempotencyClaims,
    settle_held: settleHeld,
    tell_settlements: tellSettlements,
    trim_idempotency_claims: trimIdempotencyClaims,
    void_holds: voidHolds,
    void_overdue_holds: voidOverdueHolds,
  },
};
