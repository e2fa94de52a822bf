import type { AttemptOutcome } from './attempt-outcome';
import type { GenerationOutcome } from './finished-generation';

export interface EndingRule {
  /** The outcome of the generation. */
  readonly outcome: GenerationOutcome;
  /** The outcome of the attempt that was running, if one was. */
  readonly attempt: AttemptOutcome;
  /**
   * - `usage`: the prompt and the output so far.
   * - `nothing`: a provider was called, but the client received nothing.
   * - `no_usage`: no provider responded, so there is no usage either.
   */
  readonly owed: 'usage' | 'nothing' | 'no_usage';
}

/** Each way in which a generation can end. */
export const ENDINGS = {
  /** All output was produced. */
  completed: { outcome: 'completed', attempt: 'ok', owed: 'usage' },
  /** The hold could not be extended: the completion ends with the output that was sent. */
  cut_short: { outcome: 'completed', attempt: 'cancelled', owed: 'usage' },
  /** The provider failed, or the router stopped, after the first event. */
  interrupted: { outcome: 'failed', attempt: 'interrupted', owed: 'usage' },
  /** It is unknown whether the hold could be extended. Output was sent. */
  unextended: { outcome: 'failed', attempt: 'cancelled', owed: 'usage' },
  /** It is unknown whether the hold could be extended. No output was sent. */
  unextended_unsent: { outcome: 'failed', attempt: 'cancelled', owed: 'nothing' },
  /** The request was sent to a provider, and then cancelled. */
  cancelled: { outcome: 'cancelled', attempt: 'cancelled', owed: 'usage' },
  /** The request was cancelled before it was sent to a provider. */
  cancelled_unsent: { outcome: 'cancelled', attempt: 'cancelled', owed: 'no_usage' },
  /** No event had arrived when the last target failed, the deadline passed or the router stopped. */
  failed_unopened: { outcome: 'failed', attempt: 'cancelled', owed: 'no_usage' },
} as const satisfies Readonly<Record<string, EndingRule>>;

export type Ending = keyof typeof ENDINGS;
