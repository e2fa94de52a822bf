import type { CancelSignal } from '@gateway/base';
import { failureOf, tracing, type Span } from '@gateway/telemetry';
import type { Dispatcher } from 'undici';
import type { ProviderResponse } from '../../core/ports';
import { decoded } from './decoded-response';
import { toTransportFailure } from './transport-failure';

/** The socket is paused at this number of unread bytes. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** A released response is read to its end within these limits, so that its connection can be reused. */
const MAX_DRAIN_BYTES = 64 * 1024;
const MAX_DRAIN_MS = 1_000;

/**
 * One request on its connection, its response, and its trace span. undici's own
 * `request` would wrap the body into a Node stream, which costs more CPU than the
 * rest of the call.
 */
export class ProviderExchange implements Dispatcher.DispatchHandler, ProviderResponse {
  status = 0;
  private headers: Readonly<Record<string, string | string[] | undefined>> = {};
  private controller: Dispatcher.DispatchController | undefined;
  /** Almost always undefined while a stream is open. */
  private unread: Buffer[] | undefined;
  private unreadBytes = 0;
  private ended = false;
  private error: Error | undefined;
  /** The reason of the caller's cancellation. */
  private cancelled: Error | undefined;
  private drained: number | undefined;
  private onArrival = nothing;
  /** The last poll returned 'none_yet'. */
  private awaited = false;
  private draining: NodeJS.Timeout | undefined;
  /** The decoder of a compressed response. */
  private decoder: Dispatcher.DispatchHandler | undefined;
  private resolveStarted: (response: ProviderResponse) => void = nothing;
  private rejectStarted: (error: unknown) => void = nothing;

  constructor(
    private readonly providerName: string,
    private readonly signal: CancelSignal,
    private onSent: () => void,
    private span?: Span,
    private readonly readsHeaders = false,
  ) {}

  /** Sends the request. Rejects with an UpstreamFailure when no response arrives, or as soon as the signal aborts. */
  send(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions): Promise<ProviderResponse> {
    return new Promise((resolve, reject) => {
      this.resolveStarted = resolve;
      this.rejectStarted = reject;
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
    // Cancelled while the request was queued for a connection.
    if (this.cancelled) controller.abort(this.cancelled);
    else this.onSent();
    // It would retain the request until the response ends.
    this.onSent = nothing;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Skip informational responses, such as early hints.
    if (status < 200) return;
    // The raw headers would retain the whole network buffer.
    controller.rawHeaders = null;
    this.status = status;
    // The headers of a stream would be retained until it ends.
    if (status >= 300 || this.readsHeaders) this.headers = headers;
    this.span?.set({ 'http.response.status_code': status });
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') this.startDecoding(controller, status, headers);
    this.resolveStarted(this);
    this.resolveStarted = nothing;
    this.rejectStarted = nothing;
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.decoder) this.decoder.onResponseData?.(controller, bytes);
    else this.receive(controller, bytes);
  }

  private receive(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.drained !== undefined) {
      this.drained += bytes.length;
      if (this.drained > MAX_DRAIN_BYTES)
        controller.abort(new Error('a released response is too long to drain'));
      return;
    }
    if (this.unread) this.unread.push(bytes);
    else this.unread = [bytes];
    this.unreadBytes += bytes.length;
    this.notifyArrival();
    // The listener may have read the bytes already. undici cannot resume a connection inside this callback.
    if (this.unreadBytes >= MAX_UNREAD_BYTES) controller.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.decoder) this.decoder.onResponseEnd?.(controller, {});
    else this.finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.finish(error);
  }

  private startDecoding(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const decoder = decoded({
      onRequestStart: (outer) => (this.controller = outer),
      onResponseData: (outer, bytes) => this.receive(outer, bytes),
      onResponseEnd: () => this.finish(undefined),
      onResponseError: (_outer, error) => this.finish(error),
    });
    decoder.onRequestStart?.(controller, {});
    decoder.onResponseStart?.(controller, status, headers);
    this.decoder = decoder;
  }

  poll(): Uint8Array | 'none_yet' | 'end' {
    if (this.unread && !this.cancelled) return this.take(this.unread);
    if (this.error) throw toTransportFailure(this.error, this.providerName);
    if (this.ended) return 'end';
    this.awaited = true;
    return 'none_yet';
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** Runs the listener in the span of its caller: undici's events run in the span of the connection. */
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
    const giveUp = () => this.controller?.abort(new Error('a released response did not end in time'));
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
    if (failure) this.rejectStarted(failure);
    clearTimeout(this.draining);
    this.notifyArrival();
  }

  /** Never called during a poll, in which a resumed connection may already deliver bytes. */
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
