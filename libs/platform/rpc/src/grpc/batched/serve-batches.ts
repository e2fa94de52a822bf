import {
  ExchangeRequest,
  ExchangeResponse,
  type Call,
  type CallFailure,
  type Consumed,
  type Reply,
} from '@gateway/contracts/batched-calls';
import { ShortLivedMap } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import { status, type ServerDuplexStream } from '@grpc/grpc-js';
import type { AcceptedCall, CallReplies } from '../../call-runner';
import { encodeMessage } from '../../encode-message';
import type { RpcError } from '../../rpc-error';
import { toCallFailure, toRefusal } from '../grpc-wire';
import { BatchWriter } from './batch-writer';
import { CallMessages } from './call-messages';
import { takeBatch } from './protocol';

/** Accepts a call, whose request may not be complete; undefined if it was refused. */
export type AcceptCall = (call: Call, replies: CallReplies<Buffer>) => AcceptedCall<Buffer> | undefined;

export interface BatchExchangeOptions {
  readonly accept: AcceptCall;
  /** Limits a request, and what is stored of all incomplete ones. */
  readonly maxMessageBytes: number;
}

/** The server's side of one stream of batched calls. */
export class BatchExchange {
  private readonly writer: BatchWriter;
  private readonly calls = new ShortLivedMap<number, ServedCall>();
  /** What is stored of incomplete requests. */
  private incompleteBytes = 0;
  private readonly replies: Reply[] = [];
  private consumed: Consumed[] = [];
  private goAwayIsUnsent = false;
  private callerHasEnded = false;
  private readonly ports: ServedCallPorts = {
    send: (reply) => {
      this.replies.push(reply);
      if (reply.end) this.finish(reply.id);
      this.writer.schedule();
    },
    taken: (id, bytes) => {
      this.consumed.push({ id, bytes });
      this.writer.schedule();
    },
  };

  constructor(
    private readonly stream: ServerDuplexStream<Buffer, Buffer>,
    private readonly options: BatchExchangeOptions,
  ) {
    this.writer = new BatchWriter(stream, {
      takeBatch: () => this.takeBatch(),
      next: () => {
        if (this.replies.length > 0) return 'batch';
        return this.callerHasEnded && this.calls.size === 0 ? 'end' : undefined;
      },
    });
    stream.on('data', (bytes: Buffer) => this.receive(bytes));
    stream.on('end', () => {
      this.callerHasEnded = true;
      // The rest of their requests cannot arrive.
      for (const [id, call] of [...this.calls]) if (call.incompleteBytes > 0) this.cancel(id);
      this.writer.schedule();
    });
    // gRPC emits this at the end of every stream, even a successful one.
    stream.once('cancelled', () => {
      for (const [id, call] of [...this.calls]) {
        call.abort();
        this.calls.delete(id);
      }
    });
  }

  /** Makes the client use another stream for later calls. */
  goAway(): void {
    this.goAwayIsUnsent = true;
    this.writer.schedule();
  }

  private takeBatch(): Uint8Array | undefined {
    const { consumed, goAwayIsUnsent: goAway } = this;
    const replies = takeBatch(this.replies, ({ message }) => message?.length ?? 0);
    if (replies.length + consumed.length === 0 && !goAway) return undefined;
    this.consumed = [];
    this.goAwayIsUnsent = false;
    return encodeMessage(ExchangeResponse, { replies, goAway, consumed });
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
    // First, since the client may already use the room of their incomplete requests.
    for (const id of cancelledIds) this.cancel(id);
    for (const call of calls) this.receiveCall(call);
    for (const { id, bytes } of consumed) this.calls.get(id)?.taken(bytes);
  }

  private receiveCall(call: Call): void {
    const { id, path, request, more } = call;
    const served = path === '' ? this.calls.get(id) : this.start(call);
    // The call was refused, or it has ended before the rest of its request.
    if (served === undefined) return;
    const { maxMessageBytes } = this.options;
    const before = served.incompleteBytes;
    if ((more || before > 0) && this.incompleteBytes + request.length > maxMessageBytes) {
      const internalMessage = `incomplete requests exceed ${maxMessageBytes} bytes`;
      return served.accepted?.fail(new GatewayError('internal_error', { internalMessage }));
    }
    const message = served.join(request, more);
    this.incompleteBytes += served.incompleteBytes - before;
    if (message !== undefined) served.run(message);
  }

  private start(call: Call): ServedCall | undefined {
    const served = new ServedCall(call.id, this.ports);
    this.calls.set(call.id, served);
    served.accepted = this.options.accept(call, served);
    return served.accepted && served;
  }

  private cancel(id: number): void {
    this.calls.get(id)?.abort();
    this.finish(id);
  }

  private finish(id: number): void {
    this.incompleteBytes -= this.calls.get(id)?.incompleteBytes ?? 0;
    this.calls.delete(id);
    if (this.callerHasEnded) this.writer.schedule();
  }
}

interface ServedCallPorts {
  send(reply: Reply): void;
  taken(id: number, bytes: number): void;
}

class ServedCall extends CallMessages implements CallReplies<Buffer> {
  accepted: AcceptedCall<Buffer> | undefined;

  constructor(
    private readonly id: number,
    private readonly ports: ServedCallPorts,
  ) {
    super();
  }

  run(request: Buffer): void {
    this.accepted?.run(request);
  }

  abort(): void {
    this.endMessages();
    this.accepted?.cancel();
  }

  send(message: Buffer): Promise<void> | undefined {
    return this.sendMessage(message);
  }

  succeed(): void {
    this.end(undefined);
  }

  fail(thrown: unknown): void {
    this.end(toCallFailure(thrown));
  }

  refuse(reason: RpcError): void {
    this.end(toRefusal(reason));
  }

  protected sendPart(message: Buffer, more: boolean): void {
    this.ports.send({ id: this.id, message, more, end: false });
  }

  protected reportTaken(bytes: number): void {
    this.ports.taken(this.id, bytes);
  }

  private end(failure: CallFailure | undefined): void {
    if (this.hasEnded) return;
    this.endMessages();
    this.ports.send({ id: this.id, more: false, end: true, failure });
  }
}
