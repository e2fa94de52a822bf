import type { Readable } from 'node:stream';
import { toTransportFailure } from './transport-failure';

/** What is still read of an answer nobody wants any more, so that its connection can be used again. */
const MAX_DRAIN_BYTES = 64 * 1024;
const MAX_DRAIN_MS = 1_000;

/**
 * Reads a response body when asked to. All that has arrived comes as one
 * piece; between reads nothing is taken off the socket beyond the stream's
 * own small buffer.
 */
export class AnswerReader {
  private ended = false;
  private error: Error | undefined;
  private wake: (() => void) | undefined;

  constructor(
    private readonly body: Readable,
    private readonly providerName: string,
  ) {
    body.on('readable', this.onChange);
    body.once('end', () => this.finish(undefined));
    body.once('error', (error) => this.finish(error));
    // A body that closes without an end was cut off.
    body.once('close', () => this.finish(new Error('the connection was closed')));
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const bytes = this.body.read() as Buffer | null;
      if (bytes !== null) return bytes;
      if (this.error) throw toTransportFailure(this.error, this.providerName);
      if (this.ended) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  release(): void {
    if (this.ended) return;
    const { body } = this;
    let drained = 0;
    const timer = setTimeout(() => body.destroy(), MAX_DRAIN_MS);
    timer.unref();
    body.once('close', () => clearTimeout(timer));
    body.off('readable', this.onChange);
    body.on('data', (bytes: Buffer) => {
      drained += bytes.length;
      if (drained > MAX_DRAIN_BYTES) body.destroy();
    });
    body.resume();
  }

  private finish(error: Error | undefined): void {
    if (!this.ended) this.error = error;
    this.ended = true;
    this.onChange();
  }

  private readonly onChange = (): void => {
    const { wake } = this;
    this.wake = undefined;
    wake?.();
  };
}
