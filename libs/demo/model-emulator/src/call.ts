import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Outcome } from './stats';

/** How often a connection that is about to be cut is looked at. */
const FLUSH_POLL_MS = 2;

/**
 * One call in progress: its response, whether its caller is still there, and waiting that ends
 * when the caller goes. Reports its outcome exactly once.
 */
export class Call {
  /** The caller disconnected, or the emulator cut the connection. */
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
    // A write to a caller who just left; 'close' follows and says what there is to say.
    response.on('error', () => undefined);
  }

  /** Destroys the connection without ending the answer. */
  cut(): void {
    this.cutByEmulator = true;
    this.response.destroy();
  }

  /** Waits `ms` milliseconds; resolves at once when the call closes. */
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

  /** Resolves when everything written so far is with the operating system. */
  async untilFlushed(): Promise<void> {
    // Writes of one turn are corked until its end.
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

  /** Writes and waits while the caller reads slower than this. */
  async write(text: string | Buffer): Promise<void> {
    if (this.closed || this.response.write(text)) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      this.response.once('drain', resolve);
    });
    this.wake = undefined;
  }
}

/** Keeps a stream to its rate: `next` sleeps until the next token is due. */
export class Pace {
  private readonly startMs = performance.now();
  private emitted = 0;

  /** `rate` in tokens per second; 0: no limit. */
  constructor(
    private readonly call: Call,
    private readonly rate: number,
  ) {}

  /** Milliseconds to wait before the next token; counts that token. */
  nextWaitMs(): number {
    if (this.rate === 0) return 0;
    const dueMs = this.startMs + (this.emitted++ * 1000) / this.rate;
    return dueMs - performance.now();
  }

  sleep(ms: number): Promise<void> {
    return this.call.sleep(ms);
  }
}
