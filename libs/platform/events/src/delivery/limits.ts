import type { Backoff } from '@gateway/base';

/** Limits and intervals of the event log. */
export interface EventLogLimits {
  /** Per event. */
  readonly maxPayloadBytes: number;
  /** Per write to the log. */
  readonly maxAppendBytes: number;
  readonly maxAppendEvents: number;
  /** Queued calls of `append`; more are refused. */
  readonly maxQueuedAppends: number;
  /** Per batch given to a handler. Its last event may exceed the limit. */
  readonly maxBatchBytes: number;
  /** Default of the subscription's own limit. */
  readonly maxBatchSize: number;
  /** Committed events buffered per consumer of this process; further ones are read from the database. */
  readonly maxBufferedBytes: number;
  /** Single deliveries of an event before it is dead-lettered. */
  readonly maxAttempts: number;
  /** Between deliveries of a failed batch, and between attempts to connect. */
  readonly backoff: Backoff;
  /**
   * How long a consumer waits after a batch so that more events share the next one.
   * An event after an idle period is delivered immediately.
   */
  readonly lingerMs: number;
  /** How often a consumer polls without a notification. */
  readonly pollIntervalMs: number;
  /** How often a standby member tries to take its group's lock. */
  readonly lockRetryMs: number;
  /** How often the lag of groups is measured. */
  readonly lagIntervalMs: number;
  /** Minimum age at which events that all groups have passed are deleted. */
  readonly retentionMs: number;
  readonly maintenanceIntervalMs: number;
  /** How long discarded dead letters are stored and can be redelivered. */
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
  lingerMs: 100,
  pollIntervalMs: 1_000,
  lockRetryMs: 1_000,
  lagIntervalMs: 5_000,
  retentionMs: 7 * 24 * 60 * 60 * 1000,
  maintenanceIntervalMs: 10 * 60 * 1000,
  discardedRetentionMs: 30 * 24 * 60 * 60 * 1000,
};
