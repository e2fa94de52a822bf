import { nanoUsd } from '@gateway/base';

/** Ten million dollars: the limit of a single credit, hold or cost keeps sums far below the int64 maximum. */
export const MAX_AMOUNT_NANO_USD = nanoUsd(10_000_000_000_000_000n);

/** Holds, claims or generations per rpc. */
export const MAX_ITEMS_PER_CALL = 1_000;

/** Rows per database call. */
export const MAX_BATCH_ROWS = 500;

/** Characters in an id or a claim's scope. */
export const MAX_IDENTIFIER_LENGTH = 200;
export const MAX_MODEL_LENGTH = 256;
export const MAX_END_USER_LENGTH = 512;

/** Characters in the id of a run: that of its owner, and what the client chose. */
export const MAX_RUN_ID_LENGTH = 200;

/** Characters in the note of a credit. */
export const MAX_NOTE_LENGTH = 500;

/** How long a response is stored for replay, and how long an unfinished claim blocks another body. */
export const CLAIM_RETENTION_MS = 24 * 60 * 60 * 1_000;

/** The longest lease of a running claim. */
export const MAX_CLAIM_LEASE_MS = 60 * 60 * 1_000;

/**
 * How long the claim of a completed request waits for its settlement. That
 * usually takes a second; the rest is for outages.
 */
export const SETTLING_LEASE_MS = 15 * 60 * 1_000;

/**
 * Default retention of closed holds. A settlement that arrives later is rejected,
 * so the retention must exceed the longest hold, the retention of the event log
 * and the time that a settlement may stay in a spool.
 */
export const CLOSED_HOLD_RETENTION_MS = 90 * 24 * 60 * 60 * 1_000;

/** How long a hold stays open at most. */
export const MAX_HOLD_LIFETIME_MS = 24 * 60 * 60 * 1_000;
