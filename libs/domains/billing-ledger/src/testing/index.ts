// For specs and the simulation: two ledgers on one new database.
export * from './ledger-fixture';
export type { HoldOutcome, HoldRequest } from '../core/credit/hold';
export type { IdempotentEnding } from '../core/idempotency/endings';
export type { FinishedGeneration } from '../core/settlement/settlement';
