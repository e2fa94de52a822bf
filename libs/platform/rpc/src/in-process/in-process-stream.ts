import { cancelledCall, type RpcError } from '../rpc-error';
import type { ServedMethod } from '../served-methods';
import { StreamReads } from '../stream-reads';
import type { TransportCall } from '../transport';
import { publicErrorOf, InProcessCall, type InProcessRuntime } from './in-process-call';

type Result = IteratorResult<unknown, undefined>;

/**
 * A stream of responses. The handler runs only while a reader waits for a
 * message, so no message is buffered. Not an async generator, as its `return()`
 * would be queued behind a handler that does not respond.
 */
export class InProcessStream implements AsyncIterableIterator<unknown, undefined> {
  private readonly createdMs = performance.now();
  private state: 'new' | 'open' | 'ended' = 'new';
  private served: ServedMethod | undefined;
  private context: InProcessCall | undefined;
  private messages: AsyncIterator<unknown> | undefined;
  private readonly reads = new StreamReads<unknown>();

  constructor(
    /** Throws when there is no such method, or its caller may not call it. */
    private readonly find: () => ServedMethod,
    private readonly call: TransportCall,
    private readonly runtime: InProcessRuntime,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.state === 'ended') return this.reads.readAfterEnd();
    const read = this.reads.wait();
    if (this.state === 'new') this.open();
    this.pull();
    return read;
  }

  return(): Promise<Result> {
    if (this.state === 'open') {
      this.context?.abort(cancelledCall(this.call));
      this.end(undefined);
      this.closeHandler();
    }
    this.state = 'ended';
    return this.reads.cancel();
  }

  private open(): void {
    this.state = 'open';
    let served: ServedMethod;
    try {
      served = this.served = this.find();
      const { timeoutMs } = this.call;
      const leftMs = timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - this.createdMs);
      this.context = new InProcessCall(this.call, leftMs, (reason) => this.abort(reason));
    } catch (error) {
      this.end(error as Error);
      return;
    }
    try {
      const messages = served.invoke(
        this.runtime.pass(this.call.request),
        this.context,
      ) as AsyncIterable<unknown>;
      this.messages = messages[Symbol.asyncIterator]();
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  private pull(): void {
    if (this.state !== 'open') return;
    this.messages?.next().then(this.receive, this.fail);
  }

  private readonly receive = (result: IteratorResult<unknown>): void => {
    if (this.state === 'ended') return;
    if (result.done) return this.end(undefined);
    this.reads.deliver(this.runtime.pass(result.value));
  };

  private readonly fail = (thrown: unknown): void => {
    if (this.state === 'ended' || this.served === undefined) return;
    this.end(publicErrorOf(thrown, this.served, this.runtime.log));
  };

  /** The caller's signal or deadline ended the call. */
  private abort(reason: RpcError): void {
    this.end(reason);
    this.closeHandler();
  }

  /** Ends the reader's side. */
  private end(error: Error | undefined): void {
    this.state = 'ended';
    this.context?.release();
    this.reads.end(error);
  }

  /** Makes the handler run its `finally`, without waiting for it. Its signal is already aborted. */
  private closeHandler(): void {
    this.messages?.return?.().catch(() => undefined);
  }
}
