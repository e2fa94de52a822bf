import { ExchangeRequest, ExchangeResponse, type Call, type Reply } from '@gateway/contracts/batched-calls';
import { GatewayError } from '@gateway/errors';
import { Metadata, type Client, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { checkedMetadata } from '../../call-metadata';
import { encodeMessage } from '../../encode-message';
import { cancelledCall, overdueCall, RpcError } from '../../rpc-error';
import type { StartedStream, StreamReader, TransportCall } from '../../transport';
import { asBuffer, fromCallFailure, fromGrpcFailure, identity, pathOf, startCall } from '../grpc-wire';
import { EXCHANGE_PATH, MESSAGE_OVERHEAD_BYTES, REPORT_AFTER_BYTES, takeBatch } from './protocol';

/** Streams are replaced after this time, long before the server closes their connection. */
const MAX_AGE_MS = 60_000;
const MAX_ID = 0xffff_ffff;

/** The calls of one connection, on one stream. */
export class CallStream {
  private readonly stream: ClientDuplexStream<Buffer, Buffer>;
  private readonly calls = new Map<number, OpenCall>();
  private readonly unsent: Call[] = [];
  private cancelledIds: number[] = [];
  private consumed: { id: number; bytes: number }[] = [];
  private lastId = 0;
  private isFlushScheduled = false;
  private isBlocked = false;
  /** Whether later calls need another stream. */
  private isClosing = false;
  private readonly openedAtMs = performance.now();

  constructor(
    client: Client,
    first: TransportCall,
    private readonly maxMessageBytes: number,
  ) {
    this.stream = startCall(first, () =>
      client.makeBidiStreamRequest<Buffer, Buffer>(EXCHANGE_PATH, identity, identity, new Metadata(), {}),
    );
    this.stream.on('data', (bytes: Buffer) => this.receive(bytes));
    this.stream.on('error', (failure) => this.fail(failure as ServiceError));
    this.stream.on('end', () => this.fail(undefined));
    this.stream.on('drain', () => {
      this.isBlocked = false;
      this.scheduleFlush();
    });
  }

  get isOpen(): boolean {
    if (performance.now() - this.openedAtMs >= MAX_AGE_MS) this.close();
    return !this.isClosing;
  }

  /** Ends the stream once its calls have ended. */
  close(): void {
    this.isClosing = true;
    this.scheduleFlush();
  }

  start(call: TransportCall<Uint8Array>, reader: StreamReader<Uint8Array>): StartedStream {
    const { timeoutMs } = call;
    const id = this.nextId();
    const open = new OpenCall(call, reader, {
      maxMessageBytes: this.maxMessageBytes,
      ended: () => {
        this.calls.delete(id);
        if (this.isClosing) this.scheduleFlush();
      },
      cancelled: () => this.cancel(id),
      consumed: (bytes) => {
        this.consumed.push({ id, bytes });
        this.scheduleFlush();
      },
    });
    this.unsent.push({
      id,
      path: pathOf(call.service, call.method),
      request: asBuffer(call.request),
      timeoutMs: timeoutMs === undefined ? 0 : Math.max(1, Math.ceil(timeoutMs)),
      metadata: checkedMetadata(call.metadata),
    });
    this.calls.set(id, open);
    open.watch();
    this.scheduleFlush();
    return open;
  }

  private nextId(): number {
    do this.lastId = this.lastId === MAX_ID ? 1 : this.lastId + 1;
    while (this.calls.has(this.lastId));
    return this.lastId;
  }

  private cancel(id: number): void {
    const unsent = this.unsent.findIndex((call) => call.id === id);
    if (unsent === -1) this.cancelledIds.push(id);
    else this.unsent.splice(unsent, 1);
    this.scheduleFlush();
  }

  /** All calls of one turn of the event loop are one message. */
  private scheduleFlush(): void {
    if (this.isFlushScheduled || this.isBlocked) return;
    this.isFlushScheduled = true;
    setImmediate(() => {
      this.isFlushScheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    if (this.isBlocked || !this.stream.writable) return;
    const { cancelledIds, consumed } = this;
    const calls = takeBatch(this.unsent, ({ request }) => request.length);
    if (calls.length + cancelledIds.length + consumed.length > 0) {
      this.cancelledIds = [];
      this.consumed = [];
      const batch = { calls, cancelledIds, consumed };
      this.isBlocked = !this.stream.write(asBuffer(encodeMessage(ExchangeRequest, batch)));
    }
    if (this.unsent.length > 0) this.scheduleFlush();
    // Not before its last cancellation is sent.
    else if (this.isClosing && this.calls.size === 0) this.stream.end();
  }

  private receive(bytes: Buffer): void {
    let batch: ExchangeResponse;
    try {
      batch = ExchangeResponse.decode(bytes);
    } catch {
      this.stream.cancel();
      return this.fail(undefined);
    }
    const { replies, goAway } = batch;
    for (const reply of replies) this.calls.get(reply.id)?.receive(reply);
    if (goAway) this.close();
  }

  private fail(failure: ServiceError | undefined): void {
    this.isClosing = true;
    const unsent = new Set(this.unsent.splice(0).map(({ id }) => id));
    for (const [id, open] of [...this.calls]) {
      if (unsent.has(id)) open.fail(new RpcError('unreachable', `${open.path} could not be sent`, failure));
      else if (failure) open.fail(fromGrpcFailure(open.path, failure));
      else open.fail(new RpcError('unavailable', `${open.path}: the stream of its connection has ended`));
    }
  }
}

interface OpenCallPorts {
  readonly maxMessageBytes: number;
  readonly ended: () => void;
  readonly cancelled: () => void;
  readonly consumed: (bytes: number) => void;
}

class OpenCall implements StartedStream {
  private parts: Buffer[] = [];
  private partsBytes = 0;
  private unreported = 0;
  private hasEnded = false;
  private deadline: NodeJS.Timeout | undefined;

  constructor(
    private readonly call: TransportCall,
    private readonly reader: StreamReader<Uint8Array>,
    private readonly ports: OpenCallPorts,
  ) {}

  get path(): string {
    return pathOf(this.call.service, this.call.method);
  }

  /** Ends the call when its signal aborts or its time is over. */
  watch(): void {
    const { timeoutMs } = this.call;
    this.call.signal?.addEventListener('abort', this);
    if (timeoutMs === undefined) return;
    this.deadline = setTimeout(() => this.abandon(overdueCall(this.call)), timeoutMs);
  }

  /** The signal aborted. */
  handleEvent(): void {
    this.abandon(cancelledCall(this.call));
  }

  cancel(): void {
    if (this.close()) this.ports.cancelled();
  }

  receive({ message, more, end, failure }: Reply): void {
    if (message) this.receivePart(message, more);
    if (!end || !this.close()) return;
    this.reader.end(failure && fromCallFailure(this.path, failure));
  }

  fail(error: Error): void {
    if (this.close()) this.reader.end(error);
  }

  private receivePart(part: Buffer, more: boolean): void {
    this.partsBytes += part.length;
    if (this.partsBytes > this.ports.maxMessageBytes) {
      const internalMessage = `${this.path}: a message exceeds ${this.ports.maxMessageBytes} bytes`;
      return this.abandon(new GatewayError('internal_error', { internalMessage }));
    }
    if (more) {
      this.parts.push(part);
      // An incomplete message cannot be taken.
      return this.read(part.length);
    }
    const message = this.parts.length === 0 ? part : Buffer.concat([...this.parts, part]);
    this.parts = [];
    this.partsBytes = 0;
    this.reader.message(message, part.length + MESSAGE_OVERHEAD_BYTES);
  }

  read(taken: number): void {
    if (this.hasEnded) return;
    this.unreported += taken;
    if (this.unreported < REPORT_AFTER_BYTES) return;
    this.ports.consumed(this.unreported);
    this.unreported = 0;
  }

  private abandon(error: Error): void {
    if (!this.close()) return;
    this.ports.cancelled();
    this.reader.end(error);
  }

  /** @returns whether the call was still open. */
  private close(): boolean {
    if (this.hasEnded) return false;
    this.hasEnded = true;
    clearTimeout(this.deadline);
    this.call.signal?.removeEventListener('abort', this);
    this.ports.ended();
    return true;
  }
}
