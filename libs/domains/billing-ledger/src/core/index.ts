// What the statements library, the other one of this service, may use in its core.
export type { Balance } from './credit/balance';
export { LedgerUnavailableError, type Announcement, type LedgerHealth, type LedgerStore } from './ports';
