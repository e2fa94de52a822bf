import type { UpstreamFailure } from '../failure/upstream-failure';

/** How an attempt at a target ended. */
export type AttemptOutcome = 'ok' | 'broken_off' | UpstreamFailure['kind'];
