import type { Client, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { checkedMetadata } from '../call-metadata';
import { cancelledCall, failureBeforeStart } from '../rpc-error';
import { StreamReads } from '../stream-reads';
import type { TransportCall } from '../transport';
import { asBuffer, fromGrpcFailure, identity, pathOf, startCall, toGrpcMetadata } from './grpc-wire';

type Result = IteratorResult<Uint8Array, undefined>;

/**
 * A stream of responses over gRPC. The call starts with the first read. Unread
 * messages fill the stream's buffer (16 messages) and the connection's flow
 * control window; then the server waits.
 */
export class GrpcStream implements AsyncIterableIterator<Uint8Array, undefined> {
  private readonly deadline: number | undefined;
  private readonly path: string;
  private readonly reads = new StreamReads<Uint8Array>();
  private stream: ClientReadableStream<Buffer> | undefined;
  private state: 'new' | 'open' | 'ended' = 'new';
  /** The failure of the call, which readers receive after all messages. */
  private failure: ServiceError | undefined;

  constructor(
    private readonly client: Client,
    private readonly call: TransportCall<Uint8Array>,
  ) {
    this.path = pathOf(call.service, call.method);
    this.deadline = call.timeoutMs === undefined ? undefined : Date.now() + call.timeoutMs;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.state === 'new') this.open();
    if (this.state === 'ended') return this.reads.readAfterEnd();
    const message = this.reads.hasPending ? null : this.read();
    if (message !== null) return Promise.resolve({ done: false, value: message });
    return this.reads.wait();
  }

  return(): Promise<Result> {
    if (this.state === 'open') {
      this.end(undefined);
      this.stream?.cancel();
    }
    this.state = 'ended';
    return this.reads.cancel();
  }

  /** The signal aborted. */
  handleEvent(): void {
    if (this.state !== 'open') return;
    this.end(cancelledCall(this.call));
    this.stream?.cancel();
  }

  private open(): void {
    this.state = 'open';
    const { call } = this;
    try {
      const leftMs = this.deadline === undefined ? undefined : this.deadline - Date.now();
      const ended = failureBeforeStart(call, leftMs);
      if (ended !== undefined) throw ended;
      const metadata = toGrpcMetadata(checkedMetadata(call.metadata));
      const stream = startCall(call, () =>
        this.client.makeServerStreamRequest(
          this.path,
          identity,
          identity,
          asBuffer(call.request),
          metadata,
          this.deadline === undefined ? {} : { deadline: this.deadline },
        ),
      );
      this.stream = stream;
      stream.on('readable', () => this.serveReaders());
      // gRPC may emit a failure before all messages are read; the end follows them.
      stream.on('error', (failure) => {
        this.failure = failure as ServiceError;
      });
      stream.on('end', () => this.finish());
      call.signal?.addEventListener('abort', this);
    } catch (error) {
      this.end(error as Error);
    }
  }

  private read(): Buffer | null {
    return (this.stream?.read() as Buffer | null | undefined) ?? null;
  }

  private serveReaders(): void {
    // One read more than there are readers: the stream emits its end only on a read.
    while (this.reads.hasPending) {
      const message = this.read();
      if (message === null) return;
      this.reads.deliver(message);
    }
  }

  private finish(): void {
    if (this.state === 'ended') return;
    const failure = this.failure;
    this.end(failure === undefined ? undefined : fromGrpcFailure(this.path, failure));
  }

  private end(error: Error | undefined): void {
    this.state = 'ended';
    this.call.signal?.removeEventListener('abort', this);
    this.reads.end(error);
  }
}
