const FIRST_PIECE_BYTES = 64 * 1024;

/**
 * Collects a body as it arrives. One that comes in one chunk is that chunk; all
 * others are copied chunk by chunk into pieces of bounded size, each alone in its
 * memory, so that no large body is ever copied in one go, and the pieces can be
 * given to a thread.
 */
export class BodyPieces {
  private only: Buffer | undefined;
  private readonly full: Buffer[] = [];
  private piece: Buffer | undefined;
  private used = 0;
  private fullBytes = 0;

  /**
   * @param pieceBytes - at most.
   * @param expectedBytes - of the whole body, as far as that is known; 0 otherwise.
   */
  constructor(
    private readonly pieceBytes: number,
    private readonly expectedBytes: number,
  ) {}

  add(chunk: Buffer): void {
    const { only } = this;
    if (!only && !this.piece && this.full.length === 0) {
      this.only = chunk;
      return;
    }
    this.only = undefined;
    if (only) this.copy(only);
    this.copy(chunk);
  }

  /** All bytes in order; nothing can be added afterwards. */
  end(): readonly Buffer[] {
    if (this.only) return [this.only];
    const last = this.piece?.subarray(0, this.used);
    return last && last.length > 0 ? [...this.full, last] : this.full;
  }

  private copy(chunk: Buffer): void {
    for (let from = 0; from < chunk.length;) {
      this.piece ??= this.newPiece();
      const copied = chunk.copy(this.piece, this.used, from);
      from += copied;
      this.used += copied;
      if (this.used < this.piece.length) continue;
      this.full.push(this.piece);
      this.fullBytes += this.piece.length;
      this.piece = undefined;
      this.used = 0;
    }
  }

  private newPiece(): Buffer {
    const left = this.expectedBytes - this.fullBytes;
    // Of unknown length: as much as there is already, so that a small body takes little.
    const size = left > 0 ? left : Math.max(this.fullBytes, FIRST_PIECE_BYTES);
    // Not from the shared pool: a piece may be given away.
    return Buffer.allocUnsafeSlow(Math.min(size, this.pieceBytes));
  }
}
