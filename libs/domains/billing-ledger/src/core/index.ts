// For the core of the statements library, which belongs to the same service.
export type { Balance } from './credit/balance';
export { LedgerUnavailableError, type Announcement, type LedgerHealth, type LedgerStore } from './ports';
