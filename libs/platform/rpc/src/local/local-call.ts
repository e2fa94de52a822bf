import { CallerLink, endedBeforeStart } from '../caller-link';
import type { DeadlineWheel } from '../deadline-wheel';
import { cancelledCall, tooLarge, type RpcError } from '../rpc-error';
import type { TransportCall } from '../transport';
import { metadataLines } from './request-frame';

/** What carries a call: a connection, or what waits for one. */
export interface Carrier {
  /** Nothing more is wanted of the call, which ended for the reason given. */
  leave(call: LocalCall, reason: RpcError): void;
  /** So much of a stream was read. */
  credit(call: LocalCall, messages: number, bytes: number): void;
}

export interface CallRuntime {
  readonly deadlines: DeadlineWheel;
  readonly maxMessageBytes: number;
  /** Sends the call, now or as soon as it can be; throws when it cannot. */
  dispatch(call: LocalCall): Carrier;
}

/** Who made the call. */
export interface CallReceiver {
  readonly streams: boolean;
  /** The answer, or the next message. May throw MalformedFrame. */
  take(payload: Buffer): void;
  /** Nothing more comes. What was taken before still counts: a stream releases its call once that is read. */
  end(error: Error | undefined): void;
  /** The caller's own signal or deadline ended the call: at once. */
  cut(reason: RpcError): void;
}

/** The caller's side of a call, from its sending to its end. */
export class LocalCall {
  /** Its number on its connection. */
  id = 0;
  readonly #madeMs = performance.now();
  #metadata = '';
  #link: CallerLink | undefined;
  #carrier: Carrier | undefined;

  constructor(
    readonly call: TransportCall<Uint8Array>,
    readonly receiver: CallReceiver,
    private readonly runtime: CallRuntime,
  ) {}

  get metadata(): string {
    return this.#metadata;
  }

  /** What is left of its time, in milliseconds. */
  get leftMs(): number | undefined {
    const { timeoutMs } = this.call;
    return timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - this.#madeMs);
  }

  /** Sends it; throws when it cannot start. */
  start(): void {
    const { call, runtime, leftMs } = this;
    const ended = endedBeforeStart(call, leftMs);
    if (ended !== undefined) throw ended;
    this.#metadata = metadataLines(call.metadata);
    if (call.request.length > runtime.maxMessageBytes) {
      throw tooLarge('a request', call.request.length, runtime.maxMessageBytes);
    }
    this.#carrier = runtime.dispatch(this);
    if (leftMs === undefined && call.signal === undefined) return;
    this.#link = new CallerLink(call, runtime.deadlines, (reason) => this.#cut(reason), leftMs);
  }

  /** It was sent anew, by a connection that it waited for. */
  carriedBy(carrier: Carrier): void {
    this.#carrier = carrier;
  }

  /** The carrier has let go of it. */
  end(error: Error | undefined): void {
    this.#carrier = undefined;
    if (!this.receiver.streams) this.release();
    this.receiver.end(error);
  }

  credit(messages: number, bytes: number): void {
    this.#carrier?.credit(this, messages, bytes);
  }

  /** Its reader went away. */
  leave(): void {
    this.release();
    this.#leaveCarrier(cancelledCall(this.call));
  }

  /** Its signal and deadline mean nothing any more. */
  release(): void {
    this.#link?.release();
    this.#link = undefined;
  }

  #cut(reason: RpcError): void {
    this.#leaveCarrier(reason);
    this.receiver.cut(reason);
  }

  #leaveCarrier(reason: RpcError): void {
    const carrier = this.#carrier;
    this.#carrier = undefined;
    carrier?.leave(this, reason);
  }
}
