export * from './generated/gateway/billing_ledger/v1/billing_ledger';
