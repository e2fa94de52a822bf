const LEDGER = 'libs/billing-ledger/src';
const MIGRATIONS = `${LEDGER}/adapters/prisma/migrations`;
const BOOKS = [`${LEDGER}/adapters/postgres`, `${LEDGER}/simulation/histories.sim.spec.ts`];

/** What bugs are planted in, and the tests that should see them. */
export const targets = {
  pricing: { file: 'libs/base/src/pricing.ts', tests: ['libs/base/src/pricing.spec.ts'] },
  money: { file: 'libs/base/src/money.ts', tests: ['libs/base/src/money.spec.ts'] },
  settlement: { file: `${LEDGER}/core/settlement/settlement.ts`, tests: [`${LEDGER}/core`] },
  'claim-book': { file: `${LEDGER}/core/idempotency/claim-book.ts`, tests: [`${LEDGER}/core`] },
  balance: { file: `${LEDGER}/core/credit/balance.ts`, tests: [`${LEDGER}/core`, `${LEDGER}/service`] },
  usage: {
    file: 'libs/inference-router/src/core/generation/usage.ts',
    tests: ['libs/inference-router/src/core/generation'],
  },
  'money-functions': { file: `${MIGRATIONS}/20261120090100_money_functions/migration.sql`, tests: BOOKS },
  'idempotency-functions': {
    file: `${MIGRATIONS}/20261120090300_idempotency_functions/migration.sql`,
    tests: BOOKS,
  },
  'release-functions': { file: `${MIGRATIONS}/20261121090000_release_claims/migration.sql`, tests: BOOKS },
  'hold-functions': {
    file: `${MIGRATIONS}/20261122013100_open_and_closed_holds/migration.sql`,
    tests: BOOKS,
  },
};
