export { isServed, type Attempt, type Kind, type Outcome } from './attempts';
export {
  BookReader,
  chargedOf,
  differencesOf,
  problemsOfAttempt,
  type AuditLedger,
  type Books,
  type SettledGeneration,
  type RecordedGeneration,
} from './books';
export { createChatClient, nanoUsdOf, type ChatClient, type Tenant } from './client';
export { startTraffic, type Traffic } from './traffic';
