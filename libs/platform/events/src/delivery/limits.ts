import type { Backoff } from '@gateway/base';

/** What bounds the event log. Times in milliseconds, sizes in bytes. */
export interface EventLogLimits {
  /** Of one event. */
  readonly maxPayloadBytes: number;
  /** Of one write to the log. */
  readonly maxAppendBytes: number;
  readonly maxAppendEvents: number;
  /** Calls of `append` that wait; more are refused. */
  readonly maxQueuedAppends: number;
  /** Of one batch given to a handler, which its last event may exceed. */
  readonly maxBatchBytes: number;
  /** Unless the subscription names its own. */
  readonly maxBatchSize: number;
  /** Of committed events in memory for one consumer of this process; beyond it they are read from the database. */
  readonly maxBufferedBytes: number;
  /** Of one event on its own, before it is dead-lettered. */
  readonly maxAttempts: number;
  /** Between deliveries of a batch that failed, and between attempts to connect. */
  readonly backoff: Backoff;
  /**
   * How long a consumer that has just handled a batch lets events gather before
   * it looks again. What comes after a silence is delivered at once.
   */
  readonly gatherMs: number;
  /** How often a consumer looks without having been woken. */
  readonly pollIntervalMs: number;
  /** How often a member that waits for its group's lock tries again. */
  readonly lockRetryMs: number;
  /** How often it is measured how many events wait for a group. */
  readonly lagIntervalMs: number;
  /** How long events stay after all groups have passed them. */
  readonly retentionMs: number;
  readonly trimIntervalMs: number;
  /** How long discarded dead letters can still be looked at, and redelivered after all. */
  readonly discardedRetentionMs: number;
}

export const DEFAULT_LIMITS: EventLogLimits = {
  maxPayloadBytes: 8 * 1024 * 1024,
  maxAppendBytes: 16 * 1024 * 1024,
  maxAppendEvents: 500,
  maxQueuedAppends: 10_000,
  maxBatchBytes: 32 * 1024 * 1024,
  maxBatchSize: 500,
  maxBufferedBytes: 8 * 1024 * 1024,
  maxAttempts: 5,
  backoff: { firstMs: 50, maxMs: 5_000 },
  gatherMs: 100,
  pollIntervalMs: 1_000,
  lockRetryMs: 1_000,
  lagIntervalMs: 5_000,
  retentionMs: 7 * 24 * 60 * 60 * 1000,
  trimIntervalMs: 10 * 60 * 1000,
  discardedRetentionMs: 30 * 24 * 60 * 60 * 1000,
};
