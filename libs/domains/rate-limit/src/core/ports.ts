import type { Admission, AdmissionRef, Decision, FinishedAdmission } from './limits';

/**
 * Counts requests and tokens per UTC minute and running requests, for every
 * organization and key. Duties of every implementation:
 *
 * - An admission is atomic over key and organization: it reserves a request, its
 *   tokens and a slot of both, or nothing. It counts also where no limit applies,
 *   since a limit may be set later.
 * - Admissions of one organization are decided in order. Organizations are
 *   independent: those that cannot be decided are `undecided`, the others are
 *   decided. After a rejection, all are undecided.
 * - The store's own clock decides, the same for all replicas.
 * - Admitting an unfinished id again reserves nothing and returns `admitted`, so a
 *   caller that got no response may retry.
 * - A slot is a lease. It is freed when it is neither renewed nor finished in
 *   time, so that a crashed edge leaks nothing. Renewing an expired slot has no
 *   effect, since another request may use it.
 * - Finishing frees the slot. Within the window of the admission, `returned` also
 *   releases the request and its tokens, and `used` replaces the tokens. Unknown
 *   ids are ignored, so finishing is idempotent.
 * - Memory is bounded: an organization or key without a current window and
 *   without slots in use is not stored.
 */
export interface LimitStore {
  /** Decisions in the order of the admissions. */
  admit(admissions: readonly Admission[]): Promise<readonly Decision[]>;
  finish(finished: readonly FinishedAdmission[]): Promise<void>;
  renewSlots(slots: readonly AdmissionRef[]): Promise<void>;
}
