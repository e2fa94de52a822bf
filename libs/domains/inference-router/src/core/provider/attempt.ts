import { Cancellation, type CancelSignal } from '@gateway/base';
import type { Target } from '../catalogue/model-catalogue';
import type { EventSource, ProviderAnswer, Timer, Timers } from '../ports';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

/** Longest answer read into memory, in bytes. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Longest error answer read, in bytes; what is beyond says nothing more. */
export const MAX_ERROR_BYTES = 64 * 1024;

/**
 * One call to a target under its four timeouts and the caller's cancellation.
 * The first failure is the one that every later step reports: an aborted socket
 * fails in many ways, but only one was the reason.
 */
export class Attempt implements EventSource<Uint8Array> {
  private readonly cancellation = new Cancellation();
  private readonly total: Timer;
  private phase: Timer | undefined;
  private waiting = false;
  private reason: UpstreamFailure | undefined;
  private answer: ProviderAnswer | undefined;
  private ended = false;

  constructor(
    readonly target: Target,
    private readonly timers: Timers,
    private readonly callerSignal: CancelSignal,
    /** Of the provider's total time, what earlier attempts have left. */
    totalMs: number,
  ) {
    this.total = timers.after(Math.max(totalMs, 1), () => this.abort(timedOut('the whole took too long')));
    callerSignal.addEventListener('abort', this.onCallerCancelled, { once: true });
    if (callerSignal.aborted) this.onCallerCancelled();
  }

  get signal(): CancelSignal {
    return this.cancellation;
  }

  /** Fails the step under way with a timeout after so many milliseconds, unless `expect` is called again. */
  expect(ms: number, what: string): void {
    this.phase?.cancel();
    this.waiting = true;
    this.phase = this.timers.after(ms, () => {
      if (this.waiting) this.abort(timedOut(`no ${what} within ${ms} ms`));
    });
  }

  async send(send: () => Promise<ProviderAnswer>): Promise<ProviderAnswer> {
    try {
      this.answer = await send();
      return this.answer;
    } catch (error) {
      throw this.failure(error);
    }
  }

  /**
   * The timeout of the current phase runs only while the provider is waited for,
   * not while our own caller is slow.
   */
  poll(): Uint8Array | 'none_yet' | 'end' {
    if (this.reason) throw this.reason;
    if (!this.waiting) {
      this.waiting = true;
      this.phase?.restart();
    }
    try {
      return this.answered().poll();
    } catch (error) {
      throw this.failure(error);
    }
  }

  listen(onArrival: () => void): void {
    this.answered().listen(onArrival);
  }

  /** Resolves once `poll`, which returned 'none_yet', may have more. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.listen(resolve));
  }

  /** The provider has delivered; nothing is expected of it until the next read. */
  pause(): void {
    this.waiting = false;
  }

  /** Reads to the end; longer answers than `limit` bytes are a failure. */
  async readAll(limit: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let length = 0;
    for (let bytes = this.poll(); bytes !== 'end'; bytes = this.poll()) {
      if (bytes === 'none_yet') {
        await this.arrival();
        continue;
      }
      this.phase?.restart();
      parts.push(bytes);
      length += bytes.length;
      if (length > limit) throw new UpstreamFailure('failed', { detail: `an answer above ${limit} bytes` });
    }
    return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  }

  /** The answer came to its end; no more is read of it. */
  finish(): void {
    if (this.ended) return;
    this.releaseTimers();
    this.answer?.release();
  }

  /** Ends it for good: orderly when the answer was complete, else by closing the connection. */
  end(complete: boolean): void {
    if (complete) this.finish();
    else this.abort(new UpstreamFailure('failed', { detail: 'the generation was abandoned' }));
  }

  /** Closes the provider's connection, unless the attempt has ended. */
  abort(reason: UpstreamFailure): void {
    if (this.ended) return;
    this.reason = reason;
    this.releaseTimers();
    this.cancellation.abort(this.reason);
  }

  private releaseTimers(): void {
    this.ended = true;
    this.total.cancel();
    this.phase?.cancel();
    this.waiting = false;
    this.callerSignal.removeEventListener('abort', this.onCallerCancelled);
  }

  private answered(): ProviderAnswer {
    if (!this.answer) throw new Error('nothing was sent');
    return this.answer;
  }

  private failure(error: unknown): UpstreamFailure {
    return this.reason ?? toUpstreamFailure(error);
  }

  private readonly onCallerCancelled = (): void => {
    this.abort(new UpstreamFailure('cancelled', { detail: 'the generation was cancelled' }));
  };
}

function timedOut(detail: string): UpstreamFailure {
  return new UpstreamFailure('timed_out', { detail });
}
