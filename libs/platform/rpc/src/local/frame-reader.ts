import { HEAD_BYTES, LENGTH_BYTES, MalformedFrame } from './frame';

export type TakeFrame = (kind: number, callId: number, body: Buffer) => void;

/**
 * Puts frames together again from the pieces in which a socket brings them. A
 * frame within one piece is a view of it; only one that came in several pieces
 * is copied, once.
 */
export class FrameReader {
  readonly #length = Buffer.alloc(LENGTH_BYTES);
  #lengthBytes = 0;
  /** The frame that has begun to arrive, without its length. */
  #frame: Buffer | undefined;
  #filled = 0;

  constructor(
    /** Of what follows the length. */
    private readonly maxFrameBytes: number,
    private readonly take: TakeFrame,
  ) {}

  /** @throws MalformedFrame, and whatever `take` throws; nothing may be pushed after that. */
  push(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      if (this.#frame !== undefined) at = this.#fill(this.#frame, piece, at);
      else if (this.#lengthBytes > 0 || piece.length - at < LENGTH_BYTES) at = this.#fillLength(piece, at);
      else {
        const length = this.#checked(piece.readUInt32LE(at));
        at += LENGTH_BYTES;
        if (piece.length - at < length) this.#begin(length);
        else {
          this.#deliver(piece, at, at + length);
          at += length;
        }
      }
    }
  }

  #fillLength(piece: Buffer, at: number): number {
    const copied = piece.copy(this.#length, this.#lengthBytes, at);
    this.#lengthBytes += copied;
    if (this.#lengthBytes === LENGTH_BYTES) {
      this.#lengthBytes = 0;
      this.#begin(this.#checked(this.#length.readUInt32LE()));
    }
    return at + copied;
  }

  #begin(length: number): void {
    this.#frame = Buffer.allocUnsafe(length);
    this.#filled = 0;
  }

  #fill(frame: Buffer, piece: Buffer, at: number): number {
    const copied = piece.copy(frame, this.#filled, at);
    this.#filled += copied;
    if (this.#filled === frame.length) {
      this.#frame = undefined;
      this.#deliver(frame, 0, frame.length);
    }
    return at + copied;
  }

  #checked(length: number): number {
    if (length >= HEAD_BYTES && length <= this.maxFrameBytes) return length;
    throw new MalformedFrame(`a frame of ${length} bytes, which may have ${this.maxFrameBytes}`);
  }

  #deliver(bytes: Buffer, start: number, end: number): void {
    const body = bytes.subarray(start + HEAD_BYTES, end);
    this.take(bytes[start] as number, bytes.readUInt32LE(start + 1), body);
  }
}
