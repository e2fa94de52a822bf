import type { UpstreamFailure } from '../failure/upstream-failure';

/** The outcome of one attempt at a target; `interrupted` means a failure after the first event. */
export type AttemptOutcome = 'ok' | 'interrupted' | UpstreamFailure['kind'];
