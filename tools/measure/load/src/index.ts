export { isServed, type Attempt, type Kind, type Outcome } from './attempts';
export {
  BookReader,
  chargedOf,
  differencesOf,
  faultsOfAttempt,
  type AuditLedger,
  type Books,
  type SettledGeneration,
  type ShownGeneration,
} from './books';
export { createChatClient, nanoUsdOf, type ChatClient, type Tenant } from './client';
export { startTraffic, type Traffic } from './traffic';
