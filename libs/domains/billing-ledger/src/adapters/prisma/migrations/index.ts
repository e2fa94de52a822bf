import type { Migration } from '@gateway/database';
import tables from './20261120090000_tables/migration.sql';
import moneyFunctions from './20261120090100_money_functions/migration.sql';
import settlementFunctions from './20261120090200_settlement_functions/migration.sql';
import idempotencyFunctions from './20261120090300_idempotency_functions/migration.sql';
import voidsBeforeHolds from './20261120090400_voids_before_holds/migration.sql';
import releaseClaims from './20261121090000_release_claims/migration.sql';
import closedHolds from './20261121190000_closed_holds/migration.sql';
import postingsByTime from './20261122013000_postings_by_time/migration.sql';
import openAndClosedHolds from './20261122013100_open_and_closed_holds/migration.sql';
import statementAndAlerts from './20261122021000_statement_and_alerts/migration.sql';
import reconciliation from './20261122024500_reconciliation/migration.sql';
import settledWindows from './20261122060000_settled_windows/migration.sql';
import windowsFromFirstPosting from './20261122070000_windows_from_first_posting/migration.sql';
import shortLocks from './20261122080000_short_locks/migration.sql';
import settleHeld from './20261123010000_settle_held/migration.sql';
import holdAll from './20261123030000_hold_all/migration.sql';
import argumentsByIndex from './20261123190000_arguments_by_index/migration.sql';

/** The history of the schema billing_ledger, oldest first. */
export const billingLedgerMigrations: readonly Migration[] = [
  { name: '20261120090000_tables', sql: tables },
  { name: '20261120090100_money_functions', sql: moneyFunctions },
  { name: '20261120090200_settlement_functions', sql: settlementFunctions },
  { name: '20261120090300_idempotency_functions', sql: idempotencyFunctions },
  { name: '20261120090400_voids_before_holds', sql: voidsBeforeHolds },
  { name: '20261121090000_release_claims', sql: releaseClaims },
  { name: '20261121190000_closed_holds', sql: closedHolds },
  { name: '20261122013000_postings_by_time', sql: postingsByTime },
  { name: '20261122013100_open_and_closed_holds', sql: openAndClosedHolds },
  { name: '20261122021000_statement_and_alerts', sql: statementAndAlerts },
  { name: '20261122024500_reconciliation', sql: reconciliation },
  { name: '20261122060000_settled_windows', sql: settledWindows },
  { name: '20261122070000_windows_from_first_posting', sql: windowsFromFirstPosting },
  { name: '20261122080000_short_locks', sql: shortLocks },
  { name: '20261123010000_settle_held', sql: settleHeld },
  { name: '20261123030000_hold_all', sql: holdAll },
  { name: '20261123190000_arguments_by_index', sql: argumentsByIndex },
];
