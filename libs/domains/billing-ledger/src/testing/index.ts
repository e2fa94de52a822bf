// For specs and the simulation: two ledgers on one new database.
export * from './ledger-fixture';
export type { HoldOutcome, HoldRequest } from '../core/credit/hold';
export type { ClaimResolution } from '../core/idempotency/resolutions';
export type { FinishedGeneration } from '../core/settlement/settlement';
