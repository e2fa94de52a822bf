import type { CancelSignal } from '@gateway/base';
import { failureOf, tracing, type Span } from '@gateway/telemetry';
import type { Dispatcher } from 'undici';
import type { ProviderAnswer } from '../../core/ports';
import { toTransportFailure } from './transport-failure';

/** The unread bytes of a response after which its socket is paused. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** The rest of a released response that is read at most, so that its connection can be reused. */
const MAX_DRAIN_BYTES = 64 * 1024;
const MAX_DRAIN_MS = 1_000;

/**
 * One request on its connection, its response, and its span while traces are
 * recorded. undici's own `request` would wrap the body into a Node stream, which
 * costs more than the rest of the call.
 */
export class ProviderExchange implements Dispatcher.DispatchHandler, ProviderAnswer {
  status = 0;
  retryAfter: string | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  /** Undefined for an open stream almost always. */
  private unread: Buffer[] | undefined;
  private unreadBytes = 0;
  private ended = false;
  private error: Error | undefined;
  /** Why the caller has cancelled it. */
  private cancelled: Error | undefined;
  private drained: number | undefined;
  private onArrival = nothing;
  /** The last poll returned 'none_yet'. */
  private awaited = false;
  private draining: NodeJS.Timeout | undefined;
  private begin: (answer: ProviderAnswer) => void = nothing;
  private refuse: (error: unknown) => void = nothing;

  constructor(
    private readonly providerName: string,
    private readonly signal: CancelSignal,
    private readonly onSent: () => void,
    private span?: Span,
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
    // It was cancelled while it waited for a connection.
    if (this.cancelled) controller.abort(this.cancelled);
    else this.onSent();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Informational responses, such as early hints, come first.
    if (status < 200) return;
    // Raw headers retain the buffer that they arrived in.
    controller.rawHeaders = null;
    const retryAfter = headers['retry-after'];
    this.status = status;
    this.retryAfter = typeof retryAfter === 'string' ? retryAfter : undefined;
    this.span?.set({ 'http.response.status_code': status });
    this.begin(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.drained !== undefined) {
      this.drained += bytes.length;
      if (this.drained > MAX_DRAIN_BYTES) controller.abort(new Error('too much was left of a response'));
      return;
    }
    if (this.unread) this.unread.push(bytes);
    else this.unread = [bytes];
    this.unreadBytes += bytes.length;
    this.notifyArrival();
    // The listener may have polled it. A connection cannot be resumed in here.
    if (this.unreadBytes >= MAX_UNREAD_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    this.finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.finish(error);
  }

  poll(): Uint8Array | 'none_yet' | 'end' {
    if (this.unread && !this.cancelled) return this.take(this.unread);
    if (this.error) throw toTransportFailure(this.error, this.providerName);
    if (this.ended) return 'end';
    this.awaited = true;
    return 'none_yet';
  }

  /** The listener keeps its current span: events of a connection arrive in the span of that connection. */
  listen(onArrival: () => void): void {
    const tracer = tracing();
    const span = tracer?.current();
    this.onArrival = tracer && span ? () => tracer.run(span, onArrival) : onArrival;
  }

  release(): void {
    this.endSpan();
    if (this.ended) return;
    this.drained = this.unreadBytes;
    this.unreadBytes = 0;
    this.unread = undefined;
    const giveUp = () => this.controller?.abort(new Error('a response did not end'));
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
    const failure = error && toTransportFailure(error, this.providerName);
    if (failure) this.endSpan(failureOf(failure));
    else this.endSpan();
    // No effect once the response has started.
    if (failure) this.refuse(failure);
    clearTimeout(this.draining);
    this.notifyArrival();
  }

  /** Not during a poll: a resumed connection may deliver more at once. */
  private notifyArrival(): void {
    if (!this.awaited) return;
    this.awaited = false;
    this.onArrival();
  }

  private endSpan(failure = this.status >= 400 ? String(this.status) : undefined): void {
    this.span?.end(failure);
    this.span = undefined;
  }

  private readonly onAbort = (): void => {
    const reason: unknown = this.signal.reason;
    this.cancelled = reason instanceof Error ? reason : new Error('the call was cancelled');
    this.finish(this.cancelled);
    this.controller?.abort(this.cancelled);
  };
}

function nothing(): void {}
