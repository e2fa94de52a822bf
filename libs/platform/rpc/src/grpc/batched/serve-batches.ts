import { ExchangeRequest, ExchangeResponse, type Call, type Reply } from '@gateway/contracts/batched-calls';
import { status, type ServerDuplexStream } from '@grpc/grpc-js';
import { encodeMessage } from '../../encode-message';
import type { StreamReplies } from '../call-runner';
import { asBuffer, toCallFailure, type GrpcFailure } from '../grpc-wire';
import { MAX_PART_BYTES, MESSAGE_OVERHEAD_BYTES, takeBatch, WINDOW_BYTES } from './protocol';

/** Starts to serve a call. Returns the function that aborts it when its caller no longer waits. */
export type ServeCall = (call: Call, replies: StreamReplies) => () => void;

/** The server's side of one stream of batched calls. */
export class BatchExchange {
  private readonly calls = new Map<number, ServedCall>();
  private readonly replies: Reply[] = [];
  private isGoingAway = false;
  private isFlushScheduled = false;
  private isBlocked = false;
  private callerHasEnded = false;

  constructor(
    private readonly stream: ServerDuplexStream<Buffer, Buffer>,
    private readonly serve: ServeCall,
  ) {
    stream.on('data', (bytes: Buffer) => this.receive(bytes));
    stream.on('end', () => {
      this.callerHasEnded = true;
      this.endIfDone();
    });
    stream.on('drain', () => {
      this.isBlocked = false;
      this.scheduleFlush();
    });
    // gRPC emits this at the end of every stream, even a successful one.
    stream.once('cancelled', () => {
      for (const call of [...this.calls.values()]) call.abort();
      this.calls.clear();
    });
  }

  /** Makes the client use another stream for later calls. */
  goAway(): void {
    this.isGoingAway = true;
    if (this.stream.writable)
      this.stream.write(asBuffer(encodeMessage(ExchangeResponse, { replies: [], goAway: true })));
  }

  private receive(bytes: Buffer): void {
    let batch: ExchangeRequest;
    try {
      batch = ExchangeRequest.decode(bytes);
    } catch {
      const failure = { code: status.INVALID_ARGUMENT, details: 'not a batch of calls' };
      return void this.stream.emit('error', failure);
    }
    const { calls, cancelledIds, consumed } = batch;
    for (const call of calls) this.start(call);
    for (const id of cancelledIds) {
      this.calls.get(id)?.abort();
      this.finish(id);
    }
    for (const { id, bytes } of consumed) this.calls.get(id)?.consumed(bytes);
  }

  private start(call: Call): void {
    const { id } = call;
    const served = new ServedCall((reply) => this.send({ id, ...reply }));
    this.calls.set(id, served);
    served.abortWith(this.serve(call, served));
  }

  private send(reply: Reply): void {
    this.replies.push(reply);
    if (reply.end) this.finish(reply.id);
    this.scheduleFlush();
  }

  private finish(id: number): void {
    this.calls.delete(id);
    this.endIfDone();
  }

  private endIfDone(): void {
    if (!this.callerHasEnded || this.calls.size > 0 || this.replies.length > 0) return;
    this.stream.end();
  }

  private scheduleFlush(): void {
    if (this.isFlushScheduled || this.isBlocked) return;
    this.isFlushScheduled = true;
    setImmediate(() => {
      this.isFlushScheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    if (this.isBlocked || this.replies.length === 0 || !this.stream.writable) return;
    const replies = takeBatch(this.replies, ({ message }) => message?.length ?? 0);
    const batch = { replies, goAway: this.isGoingAway };
    this.isBlocked = !this.stream.write(asBuffer(encodeMessage(ExchangeResponse, batch)));
    if (this.replies.length > 0) this.scheduleFlush();
    else this.endIfDone();
  }
}

type ReplyContent = Omit<Reply, 'id'>;

class ServedCall implements StreamReplies {
  /** Bytes that the reader has not taken. */
  private unread = 0;
  private hasRoom: (() => void) | undefined;
  private hasEnded = false;
  private abortHandler: (() => void) | undefined;

  constructor(private readonly reply: (content: ReplyContent) => void) {}

  abortWith(abort: () => void): void {
    this.abortHandler = abort;
  }

  abort(): void {
    this.hasEnded = true;
    this.hasRoom?.();
    this.abortHandler?.();
  }

  consumed(bytes: number): void {
    this.unread -= bytes;
    if (this.unread < WINDOW_BYTES) this.hasRoom?.();
  }

  readonly send = (message: Buffer): Promise<void> | undefined => {
    if (message.length > MAX_PART_BYTES) return this.sendParts(message);
    this.sendPart(message, false);
    return this.unread < WINDOW_BYTES ? undefined : this.room();
  };

  readonly succeed = (): void => this.end({ more: false, end: true });

  readonly fail = (failure: GrpcFailure): void =>
    this.end({ more: false, end: true, failure: toCallFailure(failure) });

  private end(content: ReplyContent): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.reply(content);
  }

  private async sendParts(message: Buffer): Promise<void> {
    for (let start = 0; start < message.length; start += MAX_PART_BYTES) {
      const end = start + MAX_PART_BYTES;
      this.sendPart(message.subarray(start, end), end < message.length);
      if (this.unread >= WINDOW_BYTES) await this.room();
    }
  }

  private sendPart(part: Buffer, more: boolean): void {
    if (this.hasEnded) return;
    this.unread += part.length + (more ? 0 : MESSAGE_OVERHEAD_BYTES);
    this.reply({ message: part, more, end: false });
  }

  private room(): Promise<void> {
    if (this.hasEnded) return Promise.resolve();
    return new Promise((resolve) => {
      this.hasRoom = () => {
        this.hasRoom = undefined;
        resolve();
      };
    });
  }
}
