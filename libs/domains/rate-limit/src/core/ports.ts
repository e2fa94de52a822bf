import type { Admission, AdmissionRef, Decision, FinishedAdmission } from './limits';

/**
 * Counts requests and tokens per UTC minute and running requests, for every
 * organization and key. Duties of every implementation:
 *
 * - One admission is one atomic step over key and organization: it takes a
 *   request, its tokens and a slot of both, or nothing at all. It counts where
 *   no limit applies too, since a limit may be set a moment later.
 * - Admissions of one organization are decided in their order. Organizations do
 *   not wait for each other: those that cannot be decided are `undecided`, and
 *   the rest of the call is decided all the same. After a rejection all are
 *   undecided.
 * - The time is the store's own, the same for all who use it.
 * - Admitting an id that is known and not finished takes nothing and answers
 *   that it is admitted: a caller that never got its answer may ask again.
 * - A slot is a lease. It is free again once it was neither renewed nor
 *   finished for its length, so that a crash of its holder leaks nothing. To
 *   renew a slot that is free again has no effect: it may be someone else's.
 * - Finishing frees the slot, if it is still held. In the window of the
 *   admission `returned` releases the request and its tokens and `used`
 *   replaces the tokens; once that window is over neither has anything to
 *   correct. Unknown ids are ignored, so finishing twice has the effect of once.
 * - Memory is bounded: nothing is kept of an organization or a key whose
 *   windows are over and whose slots are free.
 */
export interface LimitStore {
  /** Decisions in the order of the admissions. */
  admit(admissions: readonly Admission[]): Promise<readonly Decision[]>;
  finish(finished: readonly FinishedAdmission[]): Promise<void>;
  renewSlots(slots: readonly AdmissionRef[]): Promise<void>;
}
