import type { Writable } from 'node:stream';
import { HEAD_BYTES, LENGTH_BYTES, NOTHING, type FrameKind } from './frame';

const BLOCK_BYTES = 64 * 1024;
/** What is longer leaves as it is, beside the block: copying it would cost more than a piece of its own. */
const MAX_COPIED_BYTES = 16 * 1024;

/** Gathers the frames of one turn of the event loop, which leave in one write. */
export class FrameWriter {
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  /** In the block: what the socket has, up to here. */
  #sent = 0;
  #used = 0;
  readonly #pieces: Uint8Array[] = [];
  #isScheduled = false;
  readonly #send = (): void => this.#sendAll();

  constructor(private readonly socket: Writable) {}

  /** The payload must stay as it is until it is sent. */
  frame(
    kind: FrameKind,
    callId: number,
    payload: Uint8Array = NOTHING,
    beforePayload: Uint8Array = NOTHING,
  ): void {
    const isCopied = payload.length <= MAX_COPIED_BYTES;
    this.#makeRoom(LENGTH_BYTES + HEAD_BYTES + beforePayload.length + (isCopied ? payload.length : 0));
    const block = this.#block;
    let at = block.writeUInt32LE(HEAD_BYTES + beforePayload.length + payload.length, this.#used);
    block[at] = kind;
    at = block.writeUInt32LE(callId, at + 1);
    block.set(beforePayload, at);
    at += beforePayload.length;
    if (isCopied) block.set(payload, at);
    this.#used = isCopied ? at + payload.length : at;
    if (!isCopied) {
      this.#closePiece();
      this.#pieces.push(payload);
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#send);
  }

  /** Sends what is gathered; nothing may be written after it. */
  end(): void {
    this.#sendAll();
    this.socket.end();
  }

  #makeRoom(bytes: number): void {
    if (this.#used + bytes <= this.#block.length) return;
    this.#closePiece();
    this.#block = Buffer.allocUnsafeSlow(Math.max(bytes, BLOCK_BYTES));
    this.#sent = 0;
    this.#used = 0;
  }

  #closePiece(): void {
    if (this.#used > this.#sent) this.#pieces.push(this.#block.subarray(this.#sent, this.#used));
    this.#sent = this.#used;
  }

  #sendAll(): void {
    this.#isScheduled = false;
    this.#closePiece();
    const { socket } = this;
    const pieces = this.#pieces.splice(0);
    if (!socket.writable) return;
    socket.cork();
    for (const piece of pieces) socket.write(piece);
    socket.uncork();
    // Once the kernel has all of it, the block is free again; else the next frames go behind what it still holds.
    if (socket.writableLength === 0) {
      this.#sent = 0;
      this.#used = 0;
    }
  }
}
