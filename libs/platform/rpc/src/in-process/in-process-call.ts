import type { AcceptedCall, CallReplies, Room } from '../call-runner';
import { checkedMetadata } from '../call-metadata';
import { decodeError, encodeError } from '../error-codec';
import { cancelledCall, failureBeforeStart, overdueCall, type RpcError } from '../rpc-error';
import { ServerCall } from '../server-call';
import type { StartedStream, StreamReader, TransportCall } from '../transport';

/** Both sides of a call within a process. */
export class InProcessCall implements CallReplies<unknown>, StartedStream {
  readonly context: ServerCall;
  private accepted: AcceptedCall<unknown> | undefined;
  private hasEnded = false;
  private timer: NodeJS.Timeout | undefined;
  /** How many messages the reader waits for. */
  private wanted: number;
  private resume: (() => void) | undefined;
  /** The handler runs only while the reader waits for a message, so no message is stored. */
  private readonly room: Room = { then: (resume) => (this.resume = resume) };

  /** Throws if the call is already cancelled or overdue. */
  constructor(
    private readonly call: TransportCall,
    private readonly reader: StreamReader<unknown>,
    streams: boolean,
  ) {
    const { signal, timeoutMs, metadata } = call;
    const ended = failureBeforeStart(call, timeoutMs);
    if (ended !== undefined) throw ended;
    this.context = new ServerCall(
      checkedMetadata(metadata),
      timeoutMs === undefined ? undefined : Date.now() + timeoutMs,
    );
    this.wanted = streams ? 1 : Infinity;
    if (timeoutMs !== undefined) {
      this.timer = setTimeout(() => this.abandon(overdueCall(call)), timeoutMs);
    }
    signal?.addEventListener('abort', this);
  }

  /** @param accepted undefined if the call was refused */
  run(accepted: AcceptedCall<unknown> | undefined): void {
    this.accepted = accepted;
    accepted?.run(this.call.request);
  }

  /** The caller's signal aborted. */
  handleEvent(): void {
    this.abandon(cancelledCall(this.call));
  }

  read(): void {
    this.wanted += 1;
    const { resume } = this;
    this.resume = undefined;
    resume?.();
  }

  cancel(): void {
    if (this.close()) this.accepted?.cancel();
  }

  send(message: unknown): Room | undefined {
    this.wanted -= 1;
    if (!this.hasEnded) this.reader.message(message, 0);
    return this.wanted > 0 ? undefined : this.room;
  }

  succeed(): void {
    if (this.close()) this.reader.end(undefined);
  }

  fail(thrown: unknown): void {
    if (this.close()) this.reader.end(decodeError(encodeError(thrown)));
  }

  refuse(reason: RpcError): void {
    if (this.close()) this.reader.end(reason);
  }

  private abandon(reason: RpcError): void {
    if (!this.close()) return;
    this.accepted?.cancel();
    this.reader.end(reason);
  }

  /** @returns whether the call was still open. */
  private close(): boolean {
    if (this.hasEnded) return false;
    this.hasEnded = true;
    clearTimeout(this.timer);
    this.call.signal?.removeEventListener('abort', this);
    return true;
  }
}
