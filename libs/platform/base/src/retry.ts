import { backoffMs, type Backoff } from './backoff';
import { throwIfAborted, type CancelSignal } from './cancellation';
import { sleep } from './sleep';

/** For tests. */
export interface RetryTiming {
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: CancelSignal) => Promise<void>;
}

export interface FailedAttempt {
  /** Consecutive failures, from 1. */
  readonly failures: number;
  /** Time until the next attempt. */
  readonly pauseMs: number;
}

export interface RetryOptions {
  readonly backoff: Backoff;
  /** Including the first. Absent: unlimited. */
  readonly maxAttempts?: number;
  /** Absent: all errors are retryable. */
  readonly isRetryable?: (error: unknown) => boolean;
  /** Called before each pause. */
  readonly onRetry?: (error: unknown, attempt: FailedAttempt) => void;
  readonly signal?: CancelSignal;
  readonly timing?: Partial<RetryTiming>;
}

const realTiming: RetryTiming = { random: Math.random, sleep };

/**
 * Runs `operation` until it succeeds.
 *
 * @throws the last error if it is not retryable or no attempts are left; the
 * signal's reason when the signal aborts.
 */
export async function retry<Result>(
  operation: () => Promise<Result>,
  { backoff, maxAttempts = Infinity, isRetryable, onRetry, signal, timing }: RetryOptions,
): Promise<Result> {
  const { random, sleep: pause } = { ...realTiming, ...timing };
  for (let failures = 1; ; failures += 1) {
    if (signal) throwIfAborted(signal);
    try {
      return await operation();
    } catch (error) {
      if (signal) throwIfAborted(signal);
      if (failures >= maxAttempts || isRetryable?.(error) === false) throw error;
      const pauseMs = backoffMs(failures, backoff, random());
      onRetry?.(error, { failures, pauseMs });
      await pause(pauseMs, signal);
    }
  }
}

export interface KeepOpenOptions {
  readonly backoff: Backoff;
  readonly signal: CancelSignal;
  /** The connection failed and is reopened after the pause. Not called after an abort. */
  readonly onFailure: (error: unknown, attempt: FailedAttempt) => void;
  readonly timing?: Partial<RetryTiming>;
}

/**
 * Reconnects until the signal aborts: whenever `connect` settles, it is called
 * again after a pause. Never rejects.
 *
 * @param connect resolves or rejects when the connection is closed, and closes it
 * when the signal aborts. It calls `opened` once the connection works, which
 * resets the backoff.
 */
export async function maintainConnection(
  connect: (opened: () => void) => Promise<void>,
  { backoff, signal, onFailure, timing }: KeepOpenOptions,
): Promise<void> {
  const { random, sleep: pause } = { ...realTiming, ...timing };
  let failures = 0;
  const opened = (): void => {
    failures = 0;
  };
  const nextAttempt = (): FailedAttempt => {
    failures += 1;
    return { failures, pauseMs: backoffMs(failures, backoff, random()) };
  };
  while (!signal.aborted) {
    let attempt: FailedAttempt;
    try {
      await connect(opened);
      attempt = nextAttempt();
    } catch (error) {
      attempt = nextAttempt();
      if (!signal.aborted) onFailure(error, attempt);
    }
    await pause(attempt.pauseMs, signal);
  }
}
