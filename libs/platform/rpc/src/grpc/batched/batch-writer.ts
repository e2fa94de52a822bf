import type { Writable } from 'node:stream';
import { asBuffer } from '../grpc-wire';

export interface BatchSource {
  /** Encodes the next batch; undefined if nothing is queued. */
  takeBatch(): Uint8Array | undefined;
  /** What follows the batch: another one, the end of the stream, or nothing yet. */
  next(): 'batch' | 'end' | undefined;
}

/** Writes what one side of a stream has queued: the messages of one turn of the event loop as one batch. */
export class BatchWriter {
  private isScheduled = false;
  private isBlocked = false;

  constructor(
    private readonly stream: Writable,
    private readonly source: BatchSource,
  ) {
    stream.on('drain', () => {
      this.isBlocked = false;
      this.schedule();
    });
  }

  /** Call it after something was queued, or the stream may end. */
  schedule(): void {
    if (this.isScheduled || this.isBlocked) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.write();
    });
  }

  private write(): void {
    if (this.isBlocked || !this.stream.writable) return;
    const batch = this.source.takeBatch();
    if (batch !== undefined) this.isBlocked = !this.stream.write(asBuffer(batch));
    const next = this.source.next();
    if (next === 'batch') this.schedule();
    else if (next === 'end') this.stream.end();
  }
}
