import type { Client } from '@grpc/grpc-js';
import { failureBeforeStart } from '../../rpc-error';
import { StreamReads } from '../../stream-reads';
import type { TransportCall } from '../../transport';
import { CallStream, type CallReader, type StartedCall } from './call-stream';

/** The batched calls of one gRPC client. */
export class BatchedCalls {
  private current: CallStream | undefined;

  constructor(
    private readonly client: Client,
    private readonly maxMessageBytes: number,
  ) {}

  unary(call: TransportCall<Uint8Array>): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let response: Buffer | undefined;
      this.start(call, call.timeoutMs, {
        message: (bytes) => (response = bytes),
        end: (error) => (error ? reject(error) : resolve(response ?? Buffer.alloc(0))),
      });
    });
  }

  serverStream(call: TransportCall<Uint8Array>): AsyncIterableIterator<Uint8Array> {
    return new BatchedStream(call, (timeoutMs, reader) => this.start(call, timeoutMs, reader));
  }

  /** Calls in flight keep their stream until their connection closes. */
  close(): void {
    this.current?.close();
  }

  private start(
    call: TransportCall<Uint8Array>,
    timeoutMs: number | undefined,
    reader: CallReader,
  ): StartedCall {
    const ended = failureBeforeStart(call, timeoutMs);
    if (ended !== undefined) throw ended;
    if (!this.current?.isOpen) this.current = new CallStream(this.client, call, this.maxMessageBytes);
    return this.current.start(call, timeoutMs, reader);
  }
}

type Result = IteratorResult<Uint8Array, undefined>;

interface Unread {
  readonly message: Buffer;
  readonly cost: number;
}

/** A stream of responses. The call starts with the first read. */
class BatchedStream implements AsyncIterableIterator<Uint8Array, undefined>, CallReader {
  private readonly deadlineMs: number | undefined;
  private readonly reads = new StreamReads<Uint8Array>();
  private readonly unread: Unread[] = [];
  private state: 'new' | 'open' | 'ended' = 'new';
  /** Set when the call has ended and messages are still unread. */
  private ending: { readonly error: Error | undefined } | undefined;
  private call: StartedCall | undefined;

  constructor(
    { timeoutMs }: TransportCall,
    private readonly startCall: (timeoutMs: number | undefined, reader: CallReader) => StartedCall,
  ) {
    this.deadlineMs = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.state === 'new') this.open();
    const next = this.unread.shift();
    if (next !== undefined) {
      this.call?.took(next.cost);
      if (this.ending && this.unread.length === 0) this.finish(this.ending.error);
      return Promise.resolve({ done: false, value: next.message });
    }
    return this.state === 'ended' ? this.reads.readAfterEnd() : this.reads.wait();
  }

  return(): Promise<Result> {
    this.unread.length = 0;
    if (this.state === 'open') {
      this.finish(undefined);
      this.call?.cancel();
    }
    this.state = 'ended';
    return this.reads.cancel();
  }

  message(message: Buffer, cost: number): void {
    if (!this.reads.hasPending) return void this.unread.push({ message, cost });
    this.call?.took(cost);
    this.reads.deliver(message);
  }

  end(error: Error | undefined): void {
    if (this.unread.length === 0) this.finish(error);
    else this.ending = { error };
  }

  private open(): void {
    this.state = 'open';
    try {
      const leftMs = this.deadlineMs === undefined ? undefined : this.deadlineMs - performance.now();
      this.call = this.startCall(leftMs, this);
    } catch (error) {
      this.finish(error as Error);
    }
  }

  private finish(error: Error | undefined): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.reads.end(error);
  }
}
