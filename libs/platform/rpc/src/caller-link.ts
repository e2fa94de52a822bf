import type { DeadlineWheel, Expiring } from './deadline-wheel';
import { cancelledCall, overdueCall, type RpcError } from './rpc-error';
import type { TransportCall } from './transport';

interface Watched {
  readonly call: TransportCall;
  readonly onEnd: (reason: RpcError) => void;
}

/** Watches a caller's signal and deadline until it is released, and tells of the first that ends the call. */
export class CallerLink implements Expiring {
  #tick: number | undefined;
  /** Gone once released: the wheel's sets may keep hold of an entry for a while after its removal. */
  #watched: Watched | undefined;

  constructor(
    call: TransportCall,
    private readonly deadlines: DeadlineWheel,
    onEnd: (reason: RpcError) => void,
    /** What is left of the call's time. */
    timeoutMs: number | undefined,
  ) {
    this.#watched = { call, onEnd };
    if (timeoutMs !== undefined) this.#tick = deadlines.add(this, timeoutMs);
    call.signal?.addEventListener('abort', this);
  }

  release(): Watched | undefined {
    const watched = this.#watched;
    if (this.#tick !== undefined) this.deadlines.remove(this, this.#tick);
    this.#tick = undefined;
    watched?.call.signal?.removeEventListener('abort', this);
    this.#watched = undefined;
    return watched;
  }

  expire(): void {
    const watched = this.release();
    watched?.onEnd(overdueCall(watched.call));
  }

  /** The signal aborted. */
  handleEvent(): void {
    const watched = this.release();
    watched?.onEnd(cancelledCall(watched.call));
  }
}

/** Why a call need not even start. */
export function endedBeforeStart(call: TransportCall, timeoutMs: number | undefined): RpcError | undefined {
  if (call.signal?.aborted) return cancelledCall(call);
  return timeoutMs !== undefined && timeoutMs <= 0 ? overdueCall(call) : undefined;
}
