import { failureOf } from '@gateway/telemetry';
import type { ServerSpan } from './traced-call';

/** Receives what a streaming handler produces. */
export interface HandlerReader {
  message(message: unknown): void;
  /** After all messages. */
  end(): void;
  fail(thrown: unknown): void;
}

/** A streaming handler, which runs only while its reader waits for a message. */
export class HandlerStream {
  private messages: AsyncIterator<unknown> | undefined;
  private hasEnded = false;

  constructor(
    /** Runs the handler; at the first read. */
    private readonly start: () => AsyncIterable<unknown>,
    private readonly reader: HandlerReader,
    private readonly traced: ServerSpan | undefined,
  ) {}

  /** The handler may produce another message. */
  read(): void {
    if (this.hasEnded) return;
    try {
      this.inSpan(this.step).then(this.receive, this.fail);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** Makes the handler run its `finally`, without waiting for it. The reader is not called again. */
  close(): void {
    if (!this.end('cancelled')) return;
    this.inSpan(() => this.messages?.return?.().catch(() => undefined));
  }

  private readonly step = (): Promise<IteratorResult<unknown>> => {
    this.messages ??= this.start()[Symbol.asyncIterator]();
    return this.messages.next();
  };

  private readonly receive = (result: IteratorResult<unknown>): void => {
    if (this.hasEnded) return;
    if (!result.done) return this.reader.message(result.value);
    this.end();
    this.reader.end();
  };

  private readonly fail = (thrown: unknown): void => {
    if (this.end(failureOf(thrown))) this.reader.fail(thrown);
  };

  /** A handler runs in its reader's async context, so each step must enter the span. */
  private inSpan<Returned>(work: () => Returned): Returned {
    return this.traced === undefined ? work() : this.traced.run(work);
  }

  private end(failure?: string): boolean {
    if (this.hasEnded) return false;
    this.hasEnded = true;
    this.traced?.span.end(failure);
    return true;
  }
}
