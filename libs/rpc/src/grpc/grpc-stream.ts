import type { Client, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { endedBeforeStart } from '../caller-link';
import { checkedMetadata } from '../call-metadata';
import { cancelledCall } from '../rpc-error';
import type { TransportCall } from '../transport';
import { startCall } from './grpc-call';
import { asBuffer, fromGrpcFailure, identity, pathOf, toGrpcMetadata } from './grpc-wire';

type Result = IteratorResult<Uint8Array, undefined>;

interface Reader {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const DONE: Result = { done: true, value: undefined };

/**
 * A stream of responses over gRPC. The call starts with the first read. What
 * arrives faster than it is read fills the stream's buffer (16 messages) and
 * the connection's flow control window; then the server waits.
 */
export class GrpcStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #deadline: number | undefined;
  readonly #path: string;
  readonly #readers: Reader[] = [];
  #stream: ClientReadableStream<Buffer> | undefined;
  #state: 'new' | 'open' | 'ended' = 'new';
  /** How the call failed; told after the messages that came before. */
  #failure: ServiceError | undefined;
  #unheard: Error | undefined;

  constructor(
    private readonly client: Client,
    private readonly call: TransportCall<Uint8Array>,
  ) {
    this.#path = pathOf(call.service, call.method);
    this.#deadline = call.timeoutMs === undefined ? undefined : Date.now() + call.timeoutMs;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#state === 'new') this.#open();
    if (this.#state === 'ended') {
      const unheard = this.#unheard;
      this.#unheard = undefined;
      return unheard === undefined ? Promise.resolve(DONE) : Promise.reject(unheard);
    }
    const message = this.#readers.length === 0 ? this.#read() : null;
    if (message !== null) return Promise.resolve({ done: false, value: message });
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  return(): Promise<Result> {
    if (this.#state === 'open') {
      this.#end(undefined);
      this.#stream?.cancel();
    }
    this.#state = 'ended';
    this.#unheard = undefined;
    return Promise.resolve(DONE);
  }

  /** The signal aborted. */
  handleEvent(): void {
    if (this.#state !== 'open') return;
    this.#end(cancelledCall(this.call));
    this.#stream?.cancel();
  }

  #open(): void {
    this.#state = 'open';
    const { call } = this;
    try {
      const leftMs = this.#deadline === undefined ? undefined : this.#deadline - Date.now();
      const ended = endedBeforeStart(call, leftMs);
      if (ended !== undefined) throw ended;
      const metadata = toGrpcMetadata(checkedMetadata(call.metadata));
      const stream = startCall(call, () =>
        this.client.makeServerStreamRequest(
          this.#path,
          identity,
          identity,
          asBuffer(call.request),
          metadata,
          this.#deadline === undefined ? {} : { deadline: this.#deadline },
        ),
      );
      this.#stream = stream;
      stream.on('readable', () => this.#serveReaders());
      // gRPC reports a failure at once, possibly ahead of messages not yet read; the end comes after them.
      stream.on('error', (failure) => {
        this.#failure = failure as ServiceError;
      });
      stream.on('end', () => this.#finish());
      call.signal?.addEventListener('abort', this);
    } catch (error) {
      this.#end(error as Error);
    }
  }

  #read(): Buffer | null {
    return (this.#stream?.read() as Buffer | null | undefined) ?? null;
  }

  #serveReaders(): void {
    // Once without a reader too: at the end of the stream a read is what brings it out.
    while (this.#readers.length > 0) {
      const message = this.#read();
      if (message === null) return;
      this.#readers.shift()?.resolve({ done: false, value: message });
    }
  }

  #finish(): void {
    if (this.#state === 'ended') return;
    const failure = this.#failure;
    this.#end(failure === undefined ? undefined : fromGrpcFailure(this.#path, failure));
  }

  /** Whoever reads, or reads next, hears of the error; all others of the end. */
  #end(error: Error | undefined): void {
    this.#state = 'ended';
    this.call.signal?.removeEventListener('abort', this);
    const first = this.#readers.shift();
    if (error === undefined) first?.resolve(DONE);
    else if (first === undefined) this.#unheard = error;
    else first.reject(error);
    for (const reader of this.#readers.splice(0)) reader.resolve(DONE);
  }
}
