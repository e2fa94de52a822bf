import { Cancellation, type CancelSignal } from '@gateway/base';
import type { Target } from '../catalogue/model-catalogue';
import type { EventSource, ProviderResponse, Timer, Timers } from '../ports';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

/** The longest response that is read into memory, in bytes. */
export const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** The longest error response that is read, in bytes. */
export const MAX_ERROR_RESPONSE_BYTES = 64 * 1024;

/**
 * One call to a target, limited by its four timeouts and the caller's cancellation.
 * Every later step reports the first failure, since an aborted socket fails in
 * several ways but has one cause.
 */
export class Attempt implements EventSource<Uint8Array> {
  private readonly cancellation = new Cancellation();
  private readonly total: Timer;
  private phase: Timer | undefined;
  private waiting = false;
  private reason: UpstreamFailure | undefined;
  private response: ProviderResponse | undefined;
  private ended = false;

  constructor(
    readonly target: Target,
    private readonly timers: Timers,
    private readonly callerSignal: CancelSignal,
    /** The rest of the total timeout after earlier attempts. */
    totalMs: number,
  ) {
    this.total = timers.after(Math.max(totalMs, 1), () =>
      this.abort(timedOut('the total timeout has passed')),
    );
    callerSignal.addEventListener('abort', this.onCallerCancelled, { once: true });
    if (callerSignal.aborted) this.onCallerCancelled();
  }

  get signal(): CancelSignal {
    return this.cancellation;
  }

  /** Sets the timeout of the next phase; it replaces that of the previous one. */
  expect(ms: number, what: string): void {
    this.phase?.cancel();
    this.waiting = true;
    this.phase = this.timers.after(ms, () => {
      if (this.waiting) this.abort(timedOut(`no ${what} within ${ms} ms`));
    });
  }

  async send(send: () => Promise<ProviderResponse>): Promise<ProviderResponse> {
    try {
      this.response = await send();
      return this.response;
    } catch (error) {
      throw this.failure(error);
    }
  }

  /**
   * The phase timeout runs only while the provider is awaited, not while our own
   * caller is slow.
   */
  poll(): Uint8Array | 'none_yet' | 'end' {
    if (this.reason) throw this.reason;
    if (!this.waiting) {
      this.waiting = true;
      this.phase?.restart();
    }
    try {
      return this.receivedResponse().poll();
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** Throws the failure that ended the attempt, if there is one. */
  throwIfFailed(): void {
    if (this.reason) throw this.reason;
  }

  listen(onArrival: () => void): void {
    this.receivedResponse().listen(onArrival);
  }

  /** Resolves when `poll` may have an item after it returned 'none_yet'. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.listen(resolve));
  }

  /** Suspends the phase timeout until the next read. */
  pause(): void {
    this.waiting = false;
  }

  /** Reads to the end. Fails for a response longer than `limit` bytes. */
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
      if (length > limit)
        throw new UpstreamFailure('failed', { detail: `the response is longer than ${limit} bytes` });
    }
    return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  }

  /** The response is complete; no more of it is read. */
  finish(): void {
    if (this.ended) return;
    this.releaseTimers();
    this.response?.release();
  }

  /** Ends the attempt: releases a complete response, else closes the connection. */
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

  private receivedResponse(): ProviderResponse {
    if (!this.response) throw new Error('the request was not sent');
    return this.response;
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
