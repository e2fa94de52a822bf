import type { OpenCall } from './open-call';

/** Sends large requests in parts: several at a time, but no more than the server joins for one stream. */
export class LargeRequests {
  private readonly waiting: OpenCall[] = [];
  /** The size of those that are being sent. */
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  send(call: OpenCall): void {
    this.waiting.push(call);
    this.sendWaiting();
  }

  private sendWaiting(): void {
    for (;;) {
      const [next] = this.waiting;
      if (next === undefined || this.bytes + next.requestBytes > this.maxBytes) return;
      this.waiting.shift();
      this.bytes += next.requestBytes;
      void next.sendRequest().then(() => {
        this.bytes -= next.requestBytes;
        this.sendWaiting();
      });
    }
  }
}
