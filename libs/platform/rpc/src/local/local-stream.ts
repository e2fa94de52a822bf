import type { RpcError } from '../rpc-error';
import { StreamReads } from '../stream-reads';
import type { TransportCall } from '../transport';
import { MalformedFrame } from './frame';
import { LocalCall, type CallReceiver, type CallRuntime } from './local-call';
import { STREAM_WINDOW } from './local-limits';

type Result = IteratorResult<Uint8Array, undefined>;

/** Room is given back in halves of the window, so that a frame does for many messages. */
const CREDIT = { messages: STREAM_WINDOW.messages / 2, bytes: STREAM_WINDOW.bytes / 2 };

/**
 * A stream of responses over a local connection. The call starts with the first
 * read. What arrives faster than it is read fills the stream's window; then the
 * server waits.
 */
export class LocalStream implements AsyncIterableIterator<Uint8Array, undefined>, CallReceiver {
  readonly streams = true;
  readonly #call: LocalCall;
  readonly #reads = new StreamReads<Uint8Array>();
  readonly #unread: Buffer[] = [];
  #state: 'new' | 'open' | 'ending' | 'ended' = 'new';
  /** How the call failed; told after the messages that came before. */
  #failure: Error | undefined;
  /** What the server does not know yet. */
  #readMessages = 0;
  #readBytes = 0;

  constructor(call: TransportCall<Uint8Array>, runtime: CallRuntime) {
    this.#call = new LocalCall(call, this, runtime);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#state === 'new') this.#open();
    const message = this.#unread.shift();
    if (message !== undefined) {
      this.#credit(message.length);
      return Promise.resolve({ done: false, value: message });
    }
    if (this.#state === 'ending') this.#finish(this.#failure);
    return this.#state === 'ended' ? this.#reads.afterEnd() : this.#reads.wait();
  }

  return(): Promise<Result> {
    if (this.#state === 'open') this.#call.leave();
    if (this.#state !== 'ended') this.#finish(undefined);
    return this.#reads.leave();
  }

  take(payload: Buffer): void {
    if (this.#reads.someWait) {
      this.#reads.give(payload);
      this.#credit(payload.length);
      return;
    }
    if (this.#unread.length >= STREAM_WINDOW.messages) {
      throw new MalformedFrame('a stream brought more than its window holds');
    }
    // Not a view: it would keep all that came with it for as long as it is not read.
    this.#unread.push(Buffer.from(payload));
  }

  end(error: Error | undefined): void {
    if (this.#unread.length === 0) return this.#finish(error);
    this.#state = 'ending';
    this.#failure = error;
  }

  cut(reason: RpcError): void {
    this.#finish(reason);
  }

  #open(): void {
    this.#state = 'open';
    try {
      this.#call.start();
    } catch (error) {
      this.#finish(error as Error);
    }
  }

  #credit(bytes: number): void {
    this.#readMessages += 1;
    this.#readBytes += bytes;
    if (this.#readMessages < CREDIT.messages && this.#readBytes < CREDIT.bytes) return;
    this.#call.credit(this.#readMessages, this.#readBytes);
    this.#readMessages = 0;
    this.#readBytes = 0;
  }

  #finish(error: Error | undefined): void {
    this.#state = 'ended';
    this.#call.release();
    this.#unread.length = 0;
    this.#reads.end(error);
  }
}
