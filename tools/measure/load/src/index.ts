export { isServed, type Attempt, type Kind, type Outcome } from './attempts';
export {
  BillingReader,
  chargedOf,
  differencesOf,
  problemsOfAttempt,
  type AuditLedger,
  type BillingSnapshot,
  type SettledGeneration,
  type RecordedGeneration,
} from './billing-snapshot';
export { differencesFromFrozenPrices } from './frozen-prices';
export { createChatClient, nanoUsdOf, type ChatClient, type Tenant } from './client';
export { startTraffic, type Traffic } from './traffic';
