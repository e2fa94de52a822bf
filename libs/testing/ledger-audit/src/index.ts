export * from './audit-ledger';
