import type { DeadlineWheel, Expiring } from './deadline-wheel';
import { cancelledCall, overdueCall, type RpcError } from './rpc-error';
import type { TransportCall } from './transport';

/** Watches a caller's signal and deadline until it is released, and tells of the first that ends the call. */
export class CallerLink implements Expiring {
  #tick: number | undefined;

  constructor(
    private readonly call: TransportCall,
    private readonly deadlines: DeadlineWheel,
    private readonly onEnd: (reason: RpcError) => void,
    /** What is left of the call's time. */
    timeoutMs: number | undefined,
  ) {
    if (timeoutMs !== undefined) this.#tick = deadlines.add(this, timeoutMs);
    call.signal?.addEventListener('abort', this);
  }

  release(): void {
    if (this.#tick !== undefined) this.deadlines.remove(this, this.#tick);
    this.#tick = undefined;
    this.call.signal?.removeEventListener('abort', this);
  }

  expire(): void {
    this.release();
    this.onEnd(overdueCall(this.call));
  }

  /** The signal aborted. */
  handleEvent(): void {
    this.release();
    this.onEnd(cancelledCall(this.call));
  }
}

/** Why a call need not even start. */
export function endedBeforeStart(call: TransportCall, timeoutMs: number | undefined): RpcError | undefined {
  if (call.signal?.aborted) return cancelledCall(call);
  return timeoutMs !== undefined && timeoutMs <= 0 ? overdueCall(call) : undefined;
}
