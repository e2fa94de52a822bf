import type { StartedStream, StartStream, StreamReader, TransportCall } from './transport';

/** Called once: when the last message was taken, at a failure, or when the reader closed the stream. */
export type StreamEnd = (end: Error | 'cancelled' | undefined) => void;

export interface MessageStreamOptions<Message, Payload> {
  readonly decode: (payload: Payload) => Message;
  readonly onEnd?: StreamEnd | undefined;
}

type Result<Message> = IteratorResult<Message, undefined>;

interface Read<Message> {
  readonly resolve: (result: Result<Message>) => void;
  readonly reject: (error: unknown) => void;
}

interface Unread<Message> {
  readonly message: Message;
  readonly cost: number;
}

const DONE: Result<never> = { done: true, value: undefined };

/**
 * The responses of a call. It starts with the first read, and its time runs from
 * the creation of the stream. A message that a read waits for is delivered in the
 * same turn; others are stored. How many, the transport limits by what was taken.
 *
 * One read rejects with the failure of the call: the first pending read, or else
 * the next one after all messages. Later reads resolve as done.
 *
 * Not an async generator, whose `return()` would be queued behind a pending read.
 */
export class MessageStream<Message, Payload>
  implements AsyncIterableIterator<Message, undefined>, StreamReader<Payload>
{
  private readonly deadlineMs: number | undefined;
  private state: 'new' | 'open' | 'ended' = 'new';
  private started: StartedStream | undefined;
  /** The pending reads. The first is stored separately, since there is rarely more than one. */
  private firstRead: Read<Message> | undefined;
  private laterReads: Read<Message>[] | undefined;
  private unread: Unread<Message>[] | undefined;
  /** The cost of messages that were taken and not reported yet. */
  private taken = 0;
  /** Set when the call has ended and messages are still unread. */
  private ending: { readonly error: Error | undefined } | undefined;
  /** The failure of the call, if no read was pending at its end. */
  private undelivered: Error | undefined;

  constructor(
    private readonly call: TransportCall<Payload>,
    private readonly start: StartStream<Payload>,
    private readonly options: MessageStreamOptions<Message, Payload>,
  ) {
    this.deadlineMs = call.timeoutMs === undefined ? undefined : performance.now() + call.timeoutMs;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result<Message>> {
    if (this.state === 'ended') return this.readAfterEnd();
    const next = this.unread?.shift();
    if (next !== undefined) {
      this.taken += next.cost;
      if (this.ending && this.unread?.length === 0) this.finish(this.ending.error);
      else this.readMore();
      return Promise.resolve({ done: false, value: next.message });
    }
    const read = new Promise<Result<Message>>((resolve, reject) => {
      const pending = { resolve, reject };
      if (this.firstRead === undefined) this.firstRead = pending;
      else (this.laterReads ??= []).push(pending);
    });
    if (this.state === 'new') this.open();
    else this.readMore();
    return read;
  }

  return(): Promise<Result<Message>> {
    if (this.state !== 'ended') {
      const { started } = this;
      this.finish(undefined, 'cancelled');
      started?.cancel();
    }
    this.undelivered = undefined;
    return Promise.resolve(DONE);
  }

  message(payload: Payload, cost: number): void {
    if (this.state === 'ended' || this.ending) return;
    let message: Message;
    try {
      message = this.options.decode(payload);
    } catch (error) {
      this.started?.cancel();
      return this.end(error as Error);
    }
    const read = this.shiftRead();
    if (read === undefined) return void (this.unread ??= []).push({ message, cost });
    this.taken += cost;
    read.resolve({ done: false, value: message });
  }

  end(error: Error | undefined): void {
    if (this.state === 'ended' || this.ending) return;
    if (this.unread === undefined || this.unread.length === 0) this.finish(error);
    else this.ending = { error };
  }

  private open(): void {
    this.state = 'open';
    const { call, deadlineMs } = this;
    const timed =
      deadlineMs === undefined ? call : { ...call, timeoutMs: Math.max(0, deadlineMs - performance.now()) };
    try {
      this.started = this.start(timed, this);
    } catch (error) {
      this.end(error as Error);
    }
  }

  private readMore(): void {
    const { taken } = this;
    this.taken = 0;
    this.started?.read(taken);
  }

  private finish(error: Error | undefined, end: Error | 'cancelled' | undefined = error): void {
    this.state = 'ended';
    this.started = undefined;
    this.unread = undefined;
    const first = this.shiftRead();
    if (error === undefined) first?.resolve(DONE);
    else if (first === undefined) this.undelivered = error;
    else first.reject(error);
    for (let read = this.shiftRead(); read !== undefined; read = this.shiftRead()) read.resolve(DONE);
    this.options.onEnd?.(end);
  }

  private shiftRead(): Read<Message> | undefined {
    const first = this.firstRead;
    this.firstRead = this.laterReads?.shift();
    return first;
  }

  private readAfterEnd(): Promise<Result<Message>> {
    const undelivered = this.undelivered;
    this.undelivered = undefined;
    return undelivered === undefined ? Promise.resolve(DONE) : Promise.reject(undelivered);
  }
}
