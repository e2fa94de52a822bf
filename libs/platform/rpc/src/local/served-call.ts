import type { DeadlineWheel, Expiring } from '../deadline-wheel';
import type { RpcError } from '../rpc-error';
import type { ServedMethod } from '../served-methods';
import { ServerCall } from '../server-call';
import { MalformedFrame } from './frame';
import { STREAM_WINDOW } from './local-limits';
import type { RequestFrame } from './request-frame';

/** A call that is under way at the server: its handler's context, its deadline, and the window of its stream. */
export class ServedCall implements Expiring {
  readonly context: ServerCall;
  readonly startedMs = performance.now();
  #tick: number | undefined;
  #unreadMessages = 0;
  #unreadBytes = 0;
  #resume: (() => void) | undefined;

  constructor(
    readonly id: number,
    readonly served: ServedMethod,
    { metadata, timeoutMs }: RequestFrame,
    private readonly deadlines: DeadlineWheel,
    private readonly onOverdue: (call: ServedCall) => void,
  ) {
    this.context = new ServerCall(metadata, timeoutMs === undefined ? undefined : Date.now() + timeoutMs);
    if (timeoutMs !== undefined) this.#tick = deadlines.add(this, timeoutMs);
  }

  expire(): void {
    this.#tick = undefined;
    this.onOverdue(this);
  }

  /** It has ended, however it did. */
  release(): void {
    if (this.#tick !== undefined) this.deadlines.remove(this, this.#tick);
    this.#tick = undefined;
  }

  /** Nobody waits for it any more. */
  abort(reason: RpcError): void {
    this.release();
    this.context.abort(reason);
    this.#goOn();
  }

  /** A message was sent; resolves when there is room for another, or the call is over. */
  sent(bytes: number): Promise<void> | undefined {
    this.#unreadMessages += 1;
    this.#unreadBytes += bytes;
    if (this.#hasRoom) return undefined;
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  /** @throws MalformedFrame when more was read than was sent. */
  credit(messages: number, bytes: number): void {
    if (messages > this.#unreadMessages || bytes > this.#unreadBytes) {
      throw new MalformedFrame('a stream was read beyond what it sent');
    }
    this.#unreadMessages -= messages;
    this.#unreadBytes -= bytes;
    if (this.#hasRoom) this.#goOn();
  }

  get #hasRoom(): boolean {
    return this.#unreadMessages < STREAM_WINDOW.messages && this.#unreadBytes < STREAM_WINDOW.bytes;
  }

  #goOn(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }
}
