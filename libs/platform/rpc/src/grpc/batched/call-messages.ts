import { MAX_PART_BYTES, MESSAGE_OVERHEAD_BYTES, REPORT_AFTER_BYTES, WINDOW_BYTES } from './protocol';

/** The messages of one call at one side of the stream. It sends and receives large ones in parts. */
export abstract class CallMessages {
  protected hasEnded = false;
  /** Bytes that were sent and that the peer has not taken. */
  private unread = 0;
  private notifyRoom: (() => void) | undefined;
  private parts: Buffer[] | undefined;
  private partsBytes = 0;
  /** Bytes that were taken and not reported. */
  private unreported = 0;

  protected abstract sendPart(part: Buffer, more: boolean): void;
  /** Reports what was taken to the peer. */
  protected abstract reportTaken(bytes: number): void;

  /** The received bytes of a message that is not complete. */
  get incompleteBytes(): number {
    return this.partsBytes;
  }

  /** @returns the message once its last part is received. */
  join(part: Buffer, more: boolean): Buffer | undefined {
    if (!more && this.parts === undefined) return part;
    (this.parts ??= []).push(part);
    this.partsBytes += part.length;
    if (more) {
      this.take(part.length);
      return undefined;
    }
    const message = Buffer.concat(this.parts, this.partsBytes);
    this.parts = undefined;
    this.partsBytes = 0;
    return message;
  }

  /** Makes room for what the peer sends next. */
  protected take(bytes: number): void {
    if (this.hasEnded) return;
    this.unreported += bytes;
    if (this.unreported < REPORT_AFTER_BYTES) return;
    this.reportTaken(this.unreported);
    this.unreported = 0;
  }

  /** @returns a promise while there is no room for another message. */
  protected sendMessage(message: Buffer): Promise<void> | undefined {
    if (message.length > MAX_PART_BYTES) return this.sendParts(message);
    this.sendWithin(message, false);
    return this.unread < WINDOW_BYTES ? undefined : this.room();
  }

  /** The peer took bytes of what was sent. */
  taken(bytes: number): void {
    this.unread -= bytes;
    if (this.unread < WINDOW_BYTES) this.notifyRoom?.();
  }

  /** Sends no further part. */
  protected endMessages(): void {
    this.hasEnded = true;
    this.notifyRoom?.();
  }

  private async sendParts(message: Buffer): Promise<void> {
    for (let start = 0; start < message.length && !this.hasEnded; start += MAX_PART_BYTES) {
      const end = start + MAX_PART_BYTES;
      this.sendWithin(message.subarray(start, end), end < message.length);
      if (this.unread >= WINDOW_BYTES) await this.room();
    }
  }

  private sendWithin(part: Buffer, more: boolean): void {
    if (this.hasEnded) return;
    this.unread += part.length + (more ? 0 : MESSAGE_OVERHEAD_BYTES);
    this.sendPart(part, more);
  }

  private room(): Promise<void> {
    if (this.hasEnded) return Promise.resolve();
    return new Promise((resolve) => {
      this.notifyRoom = () => {
        this.notifyRoom = undefined;
        resolve();
      };
    });
  }
}
