import { AUDIT_ENTRIES_TABLE } from '@gateway/audit';
import type { DatabaseSchema } from '@gateway/database';
import addCredit from './functions/add_credit.sql';
import announceSettlementWindows from './functions/announce_settlement_windows.sql';
import assertNeverClosed from './functions/assert_never_closed.sql';
import budgetAccountsOf from './functions/budget_accounts_of.sql';
import budgetPeriods from './functions/budget_periods.sql';
import budgetUse from './functions/budget_use.sql';
import claimIdempotencyKey from './functions/claim_idempotency_key.sql';
import closeIdempotencyClaims from './functions/close_idempotency_claims.sql';
import compareWithPostings from './functions/compare_with_postings.sql';
import correctCredit from './functions/correct_credit.sql';
import deleteExpiredIdempotencyClaims from './functions/delete_expired_idempotency_claims.sql';
import deleteOldBudgetHours from './functions/delete_old_budget_hours.sql';
import deleteOldRuns from './functions/delete_old_runs.sql';
import extendHolds from './functions/extend_holds.sql';
import firstExceededBudget from './functions/first_exceeded_budget.sql';
import holdCredit from './functions/hold_credit.sql';
import holdRefusal from './functions/hold_refusal.sql';
import lockAccounts from './functions/lock_accounts.sql';
import lockForSettlement from './functions/lock_for_settlement.sql';
import nowUnixMs from './functions/now_unix_ms.sql';
import placeCoveredHolds from './functions/place_covered_holds.sql';
import postSettlements from './functions/post_settlements.sql';
import reconcileAccounts from './functions/reconcile_accounts.sql';
import releaseIdempotencyClaims from './functions/release_idempotency_claims.sql';
import renewIdempotencyClaims from './functions/renew_idempotency_claims.sql';
import settleOpenHolds from './functions/settle_open_holds.sql';
import settleCounters from './functions/settle_counters.sql';
import smallestIdAt from './functions/smallest_id_at.sql';
import voidHolds from './functions/void_holds.sql';
import voidOverdueHolds from './functions/void_overdue_holds.sql';
import baseline from './schema.sql';

export const BILLING_LEDGER_SCHEMA = 'billing_ledger';

/** Used by this service only. */
export const billingLedgerSchema: DatabaseSchema = {
  schema: BILLING_LEDGER_SCHEMA,
  migrations: [{ name: '0.1.0_baseline', sql: `${baseline}\n${AUDIT_ENTRIES_TABLE}` }],
  functions: {
    add_credit: addCredit,
    announce_settlement_windows: announceSettlementWindows,
    assert_never_closed: assertNeverClosed,
    budget_accounts_of: budgetAccountsOf,
    budget_periods: budgetPeriods,
    budget_use: budgetUse,
    claim_idempotency_key: claimIdempotencyKey,
    close_idempotency_claims: closeIdempotencyClaims,
    compare_with_postings: compareWithPostings,
    correct_credit: correctCredit,
    delete_expired_idempotency_claims: deleteExpiredIdempotencyClaims,
    delete_old_budget_hours: deleteOldBudgetHours,
    delete_old_runs: deleteOldRuns,
    extend_holds: extendHolds,
    first_exceeded_budget: firstExceededBudget,
    hold_credit: holdCredit,
    hold_refusal: holdRefusal,
    lock_accounts: lockAccounts,
    lock_for_settlement: lockForSettlement,
    now_unix_ms: nowUnixMs,
    place_covered_holds: placeCoveredHolds,
    post_settlements: postSettlements,
    reconcile_accounts: reconcileAccounts,
    release_idempotency_claims: releaseIdempotencyClaims,
    renew_idempotency_claims: renewIdempotencyClaims,
    settle_open_holds: settleOpenHolds,
    settle_counters: settleCounters,
    smallest_id_at: smallestIdAt,
    void_holds: voidHolds,
    void_overdue_holds: voidOverdueHolds,
  },
};
