import {
  ExchangeRequest,
  ExchangeResponse,
  type Call,
  type Consumed,
} from '@gateway/contracts/batched-calls';
import { ShortLivedMap } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import { Metadata, type Client, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { checkedMetadata } from '../../call-metadata';
import { encodeMessage } from '../../encode-message';
import { RpcError } from '../../rpc-error';
import type { StartedStream, StreamReader, TransportCall } from '../../transport';
import { ACCEPTS_NO_CALLS, asBuffer, identity, pathOf, transportFailure } from '../grpc-wire';
import { BatchWriter } from './batch-writer';
import { LargeRequests } from './large-requests';
import { OpenCall, type OpenCallPorts } from './open-call';
import { EXCHANGE_PATH, MAX_PART_BYTES, takeBatch } from './protocol';

/** Streams are replaced after this time, long before the server closes their connection. */
const MAX_AGE_MS = 60_000;
const MAX_ID = 0xffff_ffff;

/** The client's side of one stream, with the calls of its connection. */
export class CallStream {
  private readonly stream: ClientDuplexStream<Buffer, Buffer>;
  private readonly writer: BatchWriter;
  private readonly calls = new ShortLivedMap<number, OpenCall>();
  private readonly largeRequests: LargeRequests;
  /** Requests, and parts of large ones. */
  private unsent: Call[] = [];
  private cancelledIds: number[] = [];
  private consumed: Consumed[] = [];
  private lastId = 0;
  /** Whether later calls need another stream. */
  private isClosing = false;
  private readonly openedAtMs = performance.now();
  private readonly ports: OpenCallPorts;

  constructor(
    client: Client,
    private readonly maxMessageBytes: number,
    /** The server stops: it accepts no more calls. */
    private readonly onGoAway: () => void,
  ) {
    this.stream = client.makeBidiStreamRequest(EXCHANGE_PATH, identity, identity, new Metadata(), {});
    this.stream.on('data', (bytes: Buffer) => this.receive(bytes));
    this.stream.on('error', (failure) => this.fail(failure as ServiceError));
    this.stream.on('end', () => this.fail(undefined));
    this.writer = new BatchWriter(this.stream, {
      takeBatch: () => this.takeBatch(),
      next: () => {
        if (this.unsent.length > 0) return 'batch';
        return this.isClosing && this.calls.size === 0 ? 'end' : undefined;
      },
    });
    this.largeRequests = new LargeRequests(maxMessageBytes);
    this.ports = {
      maxMessageBytes,
      send: (part) => this.send(part),
      ended: (id) => {
        this.calls.delete(id);
        if (this.isClosing) this.writer.schedule();
      },
      cancelled: (id) => this.cancel(id),
      taken: (id, bytes) => {
        this.consumed.push({ id, bytes });
        this.writer.schedule();
      },
    };
  }

  get isOpen(): boolean {
    if (performance.now() - this.openedAtMs >= MAX_AGE_MS) this.close();
    return !this.isClosing;
  }

  /** Ends the stream once its calls have ended. */
  close(): void {
    this.isClosing = true;
    this.writer.schedule();
  }

  start(call: TransportCall<Uint8Array>, reader: StreamReader<Uint8Array>): StartedStream {
    const path = pathOf(call.service, call.method);
    const request = asBuffer(call.request);
    if (request.length > this.maxMessageBytes) {
      const internalMessage = `${path}: the request exceeds ${this.maxMessageBytes} bytes`;
      throw new GatewayError('internal_error', { internalMessage });
    }
    const timeoutMs = call.timeoutMs === undefined ? 0 : Math.max(1, Math.ceil(call.timeoutMs));
    const metadata = checkedMetadata(call.metadata);
    const message = { id: this.nextId(), path, request, timeoutMs, metadata, more: false };
    const open = new OpenCall(message, call, reader, this.ports);
    this.calls.set(message.id, open);
    open.watch();
    if (request.length <= MAX_PART_BYTES) this.send(message);
    else this.largeRequests.send(open);
    return open;
  }

  private nextId(): number {
    do this.lastId = this.lastId === MAX_ID ? 1 : this.lastId + 1;
    while (this.calls.has(this.lastId));
    return this.lastId;
  }

  private send(part: Call): void {
    this.unsent.push(part);
    this.writer.schedule();
  }

  private cancel(id: number): void {
    const isUnknownToServer = this.unsent.some((part) => part.id === id && isFirst(part));
    this.unsent = this.unsent.filter((part) => part.id !== id);
    if (!isUnknownToServer) this.cancelledIds.push(id);
    this.writer.schedule();
  }

  private takeBatch(): Uint8Array | undefined {
    const { cancelledIds, consumed } = this;
    const calls = takeBatch(this.unsent, ({ request }) => request.length);
    if (calls.length + cancelledIds.length + consumed.length === 0) return undefined;
    this.cancelledIds = [];
    this.consumed = [];
    return encodeMessage(ExchangeRequest, { calls, cancelledIds, consumed });
  }

  private receive(bytes: Buffer): void {
    let batch: ExchangeResponse;
    try {
      batch = ExchangeResponse.decode(bytes);
    } catch {
      this.stream.cancel();
      return this.fail(undefined);
    }
    const { replies, goAway, consumed } = batch;
    for (const reply of replies) this.calls.get(reply.id)?.receive(reply);
    for (const { id, bytes } of consumed) this.calls.get(id)?.taken(bytes);
    if (!goAway) return;
    this.close();
    this.onGoAway();
  }

  private fail(failure: ServiceError | undefined): void {
    this.isClosing = true;
    if (failure?.details === ACCEPTS_NO_CALLS) this.onGoAway();
    const unsent = new Set(this.unsent.filter(isFirst).map(({ id }) => id));
    this.unsent = [];
    for (const [id, open] of [...this.calls]) {
      const { path, isWaiting } = open;
      if (isWaiting || unsent.has(id))
        open.fail(new RpcError('unreachable', `${path} could not be sent`, failure));
      else if (failure) open.fail(transportFailure(path, failure));
      else open.fail(new RpcError('unavailable', `${path}: the stream of its connection has ended`));
    }
  }
}

/** Whether it is a request, or its first part. */
function isFirst({ path }: Call): boolean {
  return path !== '';
}
