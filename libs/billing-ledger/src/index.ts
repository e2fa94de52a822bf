export * from './adapters/postgres/claim-store';
export * from './adapters/postgres/ledger-history';
export * from './adapters/postgres/ledger-store';
export { billingLedgerMigrations } from './adapters/prisma/migrations';
export * from './audit/audit-ledger';
export type { ClaimStore, LedgerHistory, LedgerStore } from './core/ports';
export * from './service/module';
