export { createStatementsAdapters, type StatementsAdapterOptions } from './adapters/create-adapters';
export { createMailAlertSender } from './adapters/mail/mail-alert-sender';
export { createPostgresReconciler } from './adapters/postgres/reconciler';
export { createWebhookAlertSender } from './adapters/webhook/webhook-alert-sender';
export * from './service/module';
export { openLedgerModules } from './open-ledger-modules';
