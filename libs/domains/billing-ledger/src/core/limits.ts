import { nanoUsd } from '@gateway/base';

/** Ten million dollars: no single credit, hold or cost is larger, so that sums stay far inside an int64. */
export const MAX_AMOUNT_NANO_USD = nanoUsd(10_000_000_000_000_000n);

/** Holds, refs, claims or generations that one call may carry. */
export const MAX_ITEMS_PER_CALL = 1_000;

/** Rows that one database call decides. */
export const MAX_BATCH_ROWS = 500;

/** Characters of an id or of the name of a claim. */
export const MAX_IDENTIFIER_LENGTH = 200;

/** Characters of the note on a credit. */
export const MAX_NOTE_LENGTH = 500;

/** How long an answer is kept for replay, and how long a dead claim blocks another body. */
export const CLAIM_RETENTION_MS = 24 * 60 * 60 * 1_000;

/** The longest lease of a running claim. */
export const MAX_CLAIM_LEASE_MS = 60 * 60 * 1_000;

/**
 * How long the claim of an answered request waits for its settlement, which
 * takes a second; this is for the day when it does not.
 */
export const SETTLING_LEASE_MS = 15 * 60 * 1_000;

/**
 * How long the ledger knows a closed hold by its id, unless told otherwise. What
 * comes later than this is rejected, so it must outlast whatever may still come:
 * the longest hold, the event log, a settlement that waits in a spool.
 */
export const CLOSED_HOLD_RETENTION_MS = 90 * 24 * 60 * 60 * 1_000;

/** From admission to the deadline of a hold. */
export const MAX_HOLD_LIFETIME_MS = 24 * 60 * 60 * 1_000;
