import { GENERATION, ROUTER, routerBugs } from './planted-router-bugs.mjs';

const LEDGER = 'libs/domains/billing-ledger/src';
const STATEMENTS = 'libs/domains/statements/src';
const SIMULATION = 'tools/verify/simulation/src';
const POSTGRES = `${LEDGER}/adapters/postgres`;

const functionFiles = (...names) => names.map((name) => `${POSTGRES}/sql/functions/${name}.sql`);

/** The tests of the ledger, quick ones first. */
const LEDGER_TESTS = [
  ['ledger-store', 'claim-store', 'concurrency', 'ledger-history'].map(
    (name) => `${POSTGRES}/${name}.int.spec.ts`,
  ),
  [`${LEDGER}/service`, `${STATEMENTS}/service`, `${SIMULATION}/audit-ledger.int.spec.ts`],
  [`${SIMULATION}/histories.sim.spec.ts`, `${POSTGRES}/query-plans.int.spec.ts`],
];

/** Quick ones first. */
const ROUTER_TESTS = [
  [`${GENERATION}/usage.spec.ts`],
  ['cancellation', 'elastic-holds', 'failures', 'generate'].map(
    (name) => `${ROUTER}/service/${name}.int.spec.ts`,
  ),
];

const USAGE = 'libs/domains/usage/src';
const USAGE_RECONCILIATION = [
  [`${USAGE}/core/reconciliation`],
  [`${USAGE}/service/usage-reconciliation.int.spec.ts`],
];

/** The files to mutate, and the tests that should detect the mutants, in steps. */
export const targets = {
  pricing: {
    files: ['libs/platform/base/src/pricing.ts'],
    tests: [['libs/platform/base/src/pricing.spec.ts']],
  },
  money: { files: ['libs/platform/base/src/money.ts'], tests: [['libs/platform/base/src/money.spec.ts']] },
  settlement: { files: [`${LEDGER}/core/settlement/settlement.ts`], tests: [[`${LEDGER}/core`]] },
  'batch-claims': { files: [`${LEDGER}/core/idempotency/batch-claims.ts`], tests: [[`${LEDGER}/core`]] },
  balance: { files: [`${LEDGER}/core/credit/balance.ts`], tests: [[`${LEDGER}/core`, `${LEDGER}/service`]] },
  usage: {
    files: ['libs/domains/inference-router/src/core/generation/usage.ts'],
    tests: [['libs/domains/inference-router/src/core/generation']],
  },
  'router-rules': {
    files: [...new Set(routerBugs.map(({ file }) => file))],
    planted: routerBugs,
    tests: ROUTER_TESTS,
  },
  'money-functions': { files: functionFiles('lock_accounts', 'add_credit'), tests: LEDGER_TESTS },
  'idempotency-functions': {
    files: functionFiles(
      'claim_idempotency_key',
      'renew_idempotency_claims',
      'close_idempotency_claims',
      'delete_expired_idempotency_claims',
    ),
    tests: LEDGER_TESTS,
  },
  'release-functions': { files: functionFiles('release_idempotency_claims'), tests: LEDGER_TESTS },
  'posting-functions': { files: functionFiles('smallest_id_at'), tests: LEDGER_TESTS },
  'hold-functions': {
    files: functionFiles(
      'assert_never_closed',
      'budget_use',
      'extend_holds',
      'first_exceeded_budget',
      'hold_credit',
      'hold_refusal',
      'place_covered_holds',
      'void_holds',
      'void_overdue_holds',
      'lock_for_settlement',
      'post_settlements',
      'settle_open_holds',
    ),
    tests: LEDGER_TESTS,
  },
  'correction-functions': {
    files: functionFiles('correct_credit'),
    tests: [
      [`${STATEMENTS}/adapters/postgres/corrections.int.spec.ts`],
      ['apps/gateway/src/dashboard-money.int.spec.ts'],
    ],
  },
  'reconciliation-functions': {
    files: functionFiles('compare_with_postings', 'reconcile_accounts'),
    tests: [[`${STATEMENTS}/service/reconciliation.int.spec.ts`], LEDGER_TESTS[2]],
  },
  'window-functions': {
    files: functionFiles('announce_settlement_windows'),
    tests: [[`${STATEMENTS}/service/settled-windows.int.spec.ts`]],
  },
  'announced-hours': {
    files: [`${USAGE}/core/reconciliation/settled-window.ts`],
    tests: USAGE_RECONCILIATION,
  },
  'compared-usage': { files: [`${USAGE}/core/reconciliation/compare.ts`], tests: USAGE_RECONCILIATION },
};
