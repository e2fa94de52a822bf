import type { ActorVerifier } from '@gateway/actors';
import { checkedMetadata } from '../call-metadata';
import { decodeError, encodeError } from '../error-codec';
import { cancelledCall, failureBeforeStart, overdueCall, type RpcError } from '../rpc-error';
import { reportFailure, type RpcLog, type ServedMethod } from '../served-methods';
import { ServerCall } from '../server-call';
import type { TransportCall } from '../transport';

/** Shared by the calls of one in-process transport. */
export interface InProcessRuntime {
  /** Applied to every request and response. */
  readonly pass: (message: unknown) => unknown;
  readonly actors: ActorVerifier | undefined;
  readonly log: RpcLog | undefined;
}

/** The longest delay of Node's timers: about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The handler's side of a call. Until released, it aborts with the caller's signal or deadline. */
export class InProcessCall extends ServerCall {
  private readonly call: TransportCall;
  private readonly onEnd: (reason: RpcError) => void;
  private timer: NodeJS.Timeout | undefined;

  /**
   * Throws if the call is already cancelled or overdue.
   *
   * @param timeoutMs the remaining time of the call.
   * @param onEnd called when the caller's signal or deadline ends the call.
   */
  constructor(call: TransportCall, timeoutMs: number | undefined, onEnd: (reason: RpcError) => void) {
    const ended = failureBeforeStart(call, timeoutMs);
    if (ended !== undefined) throw ended;
    super(checkedMetadata(call.metadata), timeoutMs === undefined ? undefined : Date.now() + timeoutMs);
    this.call = call;
    this.onEnd = onEnd;
    if (timeoutMs !== undefined) {
      this.timer = setTimeout(() => this.end(overdueCall(call)), Math.min(timeoutMs, MAX_TIMER_MS));
    }
    call.signal?.addEventListener('abort', this);
  }

  /** The caller's signal aborted. */
  handleEvent(): void {
    this.end(cancelledCall(this.call));
  }

  /** Call it when the call has ended in another way. */
  release(): void {
    clearTimeout(this.timer);
    this.call.signal?.removeEventListener('abort', this);
  }

  private end(reason: RpcError): void {
    this.release();
    this.abort(reason);
    this.onEnd(reason);
  }
}

/** The error that the caller receives for a handler's failure. */
export function publicErrorOf(thrown: unknown, served: ServedMethod, log: RpcLog | undefined): Error {
  reportFailure(log, served, thrown);
  return decodeError(encodeError(thrown));
}
