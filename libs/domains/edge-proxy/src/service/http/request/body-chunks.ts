const FIRST_CHUNK_BYTES = 64 * 1024;

/**
 * Collects a request body as it arrives. A body that arrives in one read is not
 * copied. All others are copied into chunks of bounded size, each with its own
 * ArrayBuffer: no large body is copied in one go, and the chunks can be
 * transferred to a thread.
 */
export class BodyChunks {
  private only: Buffer | undefined;
  private readonly full: Buffer[] = [];
  private current: Buffer | undefined;
  private used = 0;
  private fullBytes = 0;

  /**
   * @param chunkBytes - maximum size of a chunk.
   * @param expectedBytes - declared length of the body; 0 when it is unknown.
   */
  constructor(
    private readonly chunkBytes: number,
    private readonly expectedBytes: number,
  ) {}

  add(data: Buffer): void {
    const { only } = this;
    if (!only && !this.current && this.full.length === 0) {
      this.only = data;
      return;
    }
    this.only = undefined;
    if (only) this.copy(only);
    this.copy(data);
  }

  /** All bytes in order; nothing can be added afterwards. */
  end(): readonly Buffer[] {
    if (this.only) return [this.only];
    const last = this.current?.subarray(0, this.used);
    return last && last.length > 0 ? [...this.full, last] : this.full;
  }

  private copy(data: Buffer): void {
    for (let from = 0; from < data.length;) {
      this.current ??= this.newChunk();
      const copied = data.copy(this.current, this.used, from);
      from += copied;
      this.used += copied;
      if (this.used < this.current.length) continue;
      this.full.push(this.current);
      this.fullBytes += this.current.length;
      this.current = undefined;
      this.used = 0;
    }
  }

  private newChunk(): Buffer {
    const left = this.expectedBytes - this.fullBytes;
    // A body of unknown length doubles the collected size, so that a small body uses little memory.
    const size = left > 0 ? left : Math.max(this.fullBytes, FIRST_CHUNK_BYTES);
    // Not from the shared pool, since a chunk may be transferred.
    return Buffer.allocUnsafeSlow(Math.min(size, this.chunkBytes));
  }
}
