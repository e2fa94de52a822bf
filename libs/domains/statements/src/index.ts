export { statementsEnvironment, statementsSettingsOf } from './service/environment';
export { createStatementsAdapters, type StatementsAdapterOptions } from './adapters/create-adapters';
export { createMailAlertSender, type AlertMailer } from './adapters/mail/mail-alert-sender';
export { createPostgresReconciler } from './adapters/postgres/reconciler';
export { createWebhookSender } from './adapters/undici/webhook-sender';
export * from './service/module';
export { openLedgerModules } from './open-ledger-modules';
