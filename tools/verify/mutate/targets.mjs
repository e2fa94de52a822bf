const LEDGER = 'libs/domains/billing-ledger/src';
const MIGRATIONS = `${LEDGER}/adapters/prisma/migrations`;
const POSTGRES = `${LEDGER}/adapters/postgres`;

/** The tests of the books, the quick ones first. */
const BOOKS = [
  ['ledger-store', 'claim-store', 'concurrency', 'ledger-history'].map(
    (name) => `${POSTGRES}/${name}.int.spec.ts`,
  ),
  [`${LEDGER}/service`, `${LEDGER}/audit`, `${LEDGER}/adapters/prisma`],
  [`${LEDGER}/simulation/histories.sim.spec.ts`, `${POSTGRES}/query-plans.int.spec.ts`],
];

const USAGE = 'libs/domains/usage/src';
const USAGE_RECONCILIATION = [
  [`${USAGE}/core/reconciliation`],
  [`${USAGE}/service/usage-reconciliation.int.spec.ts`],
];

/** What bugs are planted in, and the tests that should see them, a step of them after the other. */
export const targets = {
  pricing: { file: 'libs/platform/base/src/pricing.ts', tests: [['libs/platform/base/src/pricing.spec.ts']] },
  money: { file: 'libs/platform/base/src/money.ts', tests: [['libs/platform/base/src/money.spec.ts']] },
  settlement: { file: `${LEDGER}/core/settlement/settlement.ts`, tests: [[`${LEDGER}/core`]] },
  'claim-book': { file: `${LEDGER}/core/idempotency/claim-book.ts`, tests: [[`${LEDGER}/core`]] },
  balance: { file: `${LEDGER}/core/credit/balance.ts`, tests: [[`${LEDGER}/core`, `${LEDGER}/service`]] },
  usage: {
    file: 'libs/domains/inference-router/src/core/generation/usage.ts',
    tests: [['libs/domains/inference-router/src/core/generation']],
  },
  'money-functions': { file: `${MIGRATIONS}/20261120090100_money_functions/migration.sql`, tests: BOOKS },
  'idempotency-functions': {
    file: `${MIGRATIONS}/20261120090300_idempotency_functions/migration.sql`,
    tests: BOOKS,
  },
  'release-functions': { file: `${MIGRATIONS}/20261121090000_release_claims/migration.sql`, tests: BOOKS },
  'posting-functions': { file: `${MIGRATIONS}/20261122013000_postings_by_time/migration.sql`, tests: BOOKS },
  'hold-functions': {
    file: `${MIGRATIONS}/20261122013100_open_and_closed_holds/migration.sql`,
    tests: BOOKS,
  },
  'correction-functions': {
    file: `${MIGRATIONS}/20261122021000_statement_and_alerts/migration.sql`,
    tests: [[`${POSTGRES}/corrections.int.spec.ts`], ['apps/gateway/src/dashboard-money.int.spec.ts']],
  },
  'reconciliation-functions': {
    file: `${MIGRATIONS}/20261122024500_reconciliation/migration.sql`,
    tests: [[`${LEDGER}/service/reconciliation.int.spec.ts`], BOOKS[2]],
  },
  'window-functions': {
    file: `${MIGRATIONS}/20261122070000_windows_from_first_posting/migration.sql`,
    tests: [[`${LEDGER}/service/settled-windows.int.spec.ts`, `${LEDGER}/adapters/prisma`]],
  },
  'told-hours': { file: `${USAGE}/core/reconciliation/settled-window.ts`, tests: USAGE_RECONCILIATION },
  'compared-usage': { file: `${USAGE}/core/reconciliation/compare.ts`, tests: USAGE_RECONCILIATION },
};
