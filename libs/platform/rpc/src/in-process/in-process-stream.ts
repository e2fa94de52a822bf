import { cancelledCall, type RpcError } from '../rpc-error';
import { noSuchMethod, type ServedMethod } from '../served-methods';
import { StreamReads } from '../stream-reads';
import type { TransportCall } from '../transport';
import { crossed, InProcessCall, type InProcessRuntime } from './in-process-call';

type Result = IteratorResult<unknown, undefined>;

/**
 * A stream of responses by pull: the handler runs only while a reader waits for
 * a message, so no message is buffered.
 *
 * It is not an async generator: there a cancellation would be queued behind a
 * handler that does not respond.
 */
export class InProcessStream implements AsyncIterableIterator<unknown, undefined> {
  private readonly createdMs = performance.now();
  private state: 'new' | 'open' | 'ended' = 'new';
  private context: InProcessCall | undefined;
  private messages: AsyncIterator<unknown> | undefined;
  private readonly reads = new StreamReads<unknown>();

  constructor(
    private readonly served: ServedMethod | undefined,
    private readonly call: TransportCall,
    private readonly runtime: InProcessRuntime,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.state === 'ended') return this.reads.afterEnd();
    const read = this.reads.wait();
    if (this.state === 'new') this.open();
    this.pull();
    return read;
  }

  return(): Promise<Result> {
    if (this.state === 'open') {
      this.context?.abort(cancelledCall(this.call));
      this.end(undefined);
      this.leaveHandler();
    }
    this.state = 'ended';
    return this.reads.leave();
  }

  private open(): void {
    this.state = 'open';
    try {
      if (this.served === undefined) throw noSuchMethod(this.call);
      const { timeoutMs } = this.call;
      const leftMs = timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - this.createdMs);
      this.context = new InProcessCall(this.call, leftMs, (reason) => this.cut(reason));
    } catch (error) {
      this.end(error as Error);
      return;
    }
    try {
      const messages = this.served.invoke(
        this.runtime.handOver(this.call.request),
        this.context,
      ) as AsyncIterable<unknown>;
      this.messages = messages[Symbol.asyncIterator]();
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  private pull(): void {
    if (this.state !== 'open') return;
    this.messages?.next().then(this.take, this.fail);
  }

  private readonly take = (result: IteratorResult<unknown>): void => {
    if (this.state === 'ended') return;
    if (result.done) return this.end(undefined);
    this.reads.give(this.runtime.handOver(result.value));
  };

  private readonly fail = (thrown: unknown): void => {
    if (this.state === 'ended' || this.served === undefined) return;
    this.end(crossed(thrown, this.served, this.runtime.log));
  };

  /** The caller's signal or deadline ended the call. */
  private cut(reason: RpcError): void {
    this.end(reason);
    this.leaveHandler();
  }

  /** Ends the reader's side. */
  private end(error: Error | undefined): void {
    this.state = 'ended';
    this.context?.release();
    this.reads.end(error);
  }

  /** Makes the handler run its `finally`. Its signal is aborted already; nothing waits for it. */
  private leaveHandler(): void {
    this.messages?.return?.().catch(() => undefined);
  }
}
