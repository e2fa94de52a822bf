export {
  billingLedgerEnvironment,
  billingLedgerSettingsOf,
  type BillingLedgerEnvironment,
} from './service/environment';
export { createBillingLedgerAdapters, type LedgerAdapterOptions } from './adapters/create-adapters';
export * from './adapters/postgres/claim-store';
export * from './adapters/postgres/ledger-history';
export * from './adapters/postgres/ledger-store';
export { BILLING_LEDGER_SCHEMA, billingLedgerSchema } from './adapters/postgres/sql/schema';
export type { ClaimStore, LedgerHistory, LedgerStore } from './core/ports';
export * from './service/module';
// For the statements library, which belongs to the same service.
export { withRetries } from './adapters/postgres/retry';
export { counterOf } from './core/credit/counter';
export { NO_BALANCE, remainderOf, type Balance } from './core/credit/balance';
export { addCredit, type AddCreditPorts } from './service/add-credit';
export { noteOf, parseAmount, parseIdentifier, parseNote, parseRequest } from './service/messages';
