export * from './generated/gateway/billing_ledger/v1/billing_ledger';
export * from './generated/gateway/billing_ledger/v1/billing_ledger_admin';
