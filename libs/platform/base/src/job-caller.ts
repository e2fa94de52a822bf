import type { CancelSignal } from './cancellation';

/** Whose job a thread runs. */
export interface JobCaller {
  /** Owners take turns, and share a full queue. */
  readonly owner?: string | undefined;
  /** Aborts when the result is no longer needed. */
  readonly signal?: CancelSignal | undefined;
}
