import type { CancelSignal } from '@gateway/base';
import type { Dispatcher } from 'undici';
import type { ProviderAnswer } from '../../core/ports';
import { toTransportFailure } from './transport-failure';

/** What is held of an answer that nobody reads; then its socket is not read either. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** What is still read of an answer nobody wants any more, so that its connection can be used again. */
const MAX_DRAIN_BYTES = 64 * 1024;
const MAX_DRAIN_MS = 1_000;

/**
 * One request on its connection, and its answer. undici's own `request` would
 * wrap the body into a stream of Node's, which costs more than all the rest of
 * the call.
 */
export class ProviderExchange implements Dispatcher.DispatchHandler, ProviderAnswer {
  status = 0;
  retryAfter: string | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  /** An open stream has nothing unread nearly always. */
  private unread: Buffer[] | undefined;
  private unreadBytes = 0;
  private ended = false;
  private error: Error | undefined;
  /** Why the caller has given it up. */
  private cancelled: Error | undefined;
  private drained: number | undefined;
  private onArrival = nothing;
  /** Nothing was there when it was last read. */
  private awaited = false;
  private draining: NodeJS.Timeout | undefined;
  private begin: (answer: ProviderAnswer) => void = nothing;
  private refuse: (error: unknown) => void = nothing;

  constructor(
    private readonly providerName: string,
    private readonly signal: CancelSignal,
    private readonly onSent: () => void,
  ) {}

  /** Sends the request. Rejects with an UpstreamFailure when no answer comes, at once when the signal aborts. */
  send(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions): Promise<ProviderAnswer> {
    return new Promise((resolve, reject) => {
      this.begin = resolve;
      this.refuse = reject;
      if (this.signal.aborted) return this.onAbort();
      this.signal.addEventListener('abort', this.onAbort);
      try {
        dispatcher.dispatch(request, this);
      } catch (error) {
        this.finish(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // It was given up while it waited for a connection.
    if (this.cancelled) controller.abort(this.cancelled);
    else this.onSent();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Early hints and the like come before the answer.
    if (status < 200) return;
    // Nobody asks for them again, and each keeps the bytes alive that it arrived in.
    controller.rawHeaders = null;
    const retryAfter = headers['retry-after'];
    this.status = status;
    this.retryAfter = typeof retryAfter === 'string' ? retryAfter : undefined;
    this.begin(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.drained !== undefined) {
      this.drained += bytes.length;
      if (this.drained > MAX_DRAIN_BYTES) controller.abort(new Error('too much was left of an answer'));
      return;
    }
    if (this.unread) this.unread.push(bytes);
    else this.unread = [bytes];
    this.unreadBytes += bytes.length;
    this.tellArrival();
    // Whoever listens may have read it by now. To let a connection go on in here is not possible.
    if (this.unreadBytes >= MAX_UNREAD_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    this.finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.finish(error);
  }

  /** As one piece; what came before a failure comes before it here as well. */
  read(): Uint8Array | 'none_yet' | 'end' {
    if (this.unread && !this.cancelled) return this.take(this.unread);
    if (this.error) throw toTransportFailure(this.error, this.providerName);
    if (this.ended) return 'end';
    this.awaited = true;
    return 'none_yet';
  }

  listen(onArrival: () => void): void {
    this.onArrival = onArrival;
  }

  release(): void {
    if (this.ended) return;
    this.drained = this.unreadBytes;
    this.unreadBytes = 0;
    this.unread = undefined;
    const giveUp = () => this.controller?.abort(new Error('an answer did not end'));
    this.draining = setTimeout(giveUp, MAX_DRAIN_MS).unref();
    if (this.controller?.paused) this.controller.resume();
  }

  private take(unread: readonly Buffer[]): Uint8Array {
    const [first] = unread;
    const bytes = unread.length === 1 && first ? first : Buffer.concat(unread, this.unreadBytes);
    this.unread = undefined;
    this.unreadBytes = 0;
    if (this.controller?.paused) this.controller.resume();
    return bytes;
  }

  private finish(error: Error | undefined): void {
    if (this.ended) return;
    this.ended = true;
    this.error = error;
    this.signal.removeEventListener('abort', this.onAbort);
    // Without effect when the answer has begun.
    if (error) this.refuse(toTransportFailure(error, this.providerName));
    clearTimeout(this.draining);
    this.tellArrival();
  }

  /** Never in the middle of a read: a connection that goes on there may bring more at once. */
  private tellArrival(): void {
    if (!this.awaited) return;
    this.awaited = false;
    this.onArrival();
  }

  private readonly onAbort = (): void => {
    const reason: unknown = this.signal.reason;
    this.cancelled = reason instanceof Error ? reason : new Error('the call was given up');
    this.finish(this.cancelled);
    this.controller?.abort(this.cancelled);
  };
}

function nothing(): void {}
