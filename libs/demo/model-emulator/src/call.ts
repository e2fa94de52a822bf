import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Outcome } from './stats';

/** How often the write buffer of a connection is checked before it is cut. */
const FLUSH_POLL_MS = 2;

/**
 * One call in progress: its response, its connection state, and waits that end when the client
 * disconnects. Reports its outcome exactly once.
 */
export class Call {
  /** The client disconnected, or the emulator cut the connection. */
  closed = false;
  private cutByEmulator = false;
  private wake: (() => void) | undefined;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    onEnd: (outcome: Outcome) => void,
  ) {
    response.once('close', () => {
      this.closed = true;
      this.wake?.();
      onEnd(this.cutByEmulator ? 'cut' : response.writableFinished ? 'completed' : 'cancelled');
    });
    // A write after the client disconnected; 'close' follows and reports the outcome.
    response.on('error', () => undefined);
  }

  /** Closes the connection without completing the response. */
  cut(): void {
    this.cutByEmulator = true;
    this.response.destroy();
  }

  /** Waits `ms` milliseconds; resolves immediately when the call closes. */
  async sleep(ms: number): Promise<void> {
    if (this.closed || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wake = undefined;
  }

  /** Resolves when all written bytes were passed to the operating system. */
  async untilFlushed(): Promise<void> {
    // Node corks the writes of one event-loop turn until its end.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (!this.closed && (this.response.socket?.writableLength ?? 0) > 0) await this.sleep(FLUSH_POLL_MS);
  }

  /** Resolves when the call closes. */
  async untilClosed(): Promise<void> {
    if (this.closed) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
  }

  /** Writes, and waits while the client reads more slowly. */
  async write(text: string | Buffer): Promise<void> {
    if (this.closed || this.response.write(text)) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      this.response.once('drain', resolve);
    });
    this.wake = undefined;
  }
}

/** Limits a stream to its token rate. */
export class Pace {
  private readonly startMs = performance.now();
  private emitted = 0;

  /** @param rate tokens per second; 0: no limit. */
  constructor(
    private readonly call: Call,
    private readonly rate: number,
  ) {}

  /** Counts the next token, and returns the milliseconds until it is due. */
  nextWaitMs(): number {
    if (this.rate === 0) return 0;
    const dueMs = this.startMs + (this.emitted++ * 1000) / this.rate;
    return dueMs - performance.now();
  }

  sleep(ms: number): Promise<void> {
    return this.call.sleep(ms);
  }
}
