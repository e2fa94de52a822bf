import type { CallActor } from '@gateway/actors';
import { Cancellation, type CancelSignal } from '@gateway/base';
import type { CallContext, CallMetadata } from './definition';
import type { RpcError } from './rpc-error';
import type { traceOfCall } from './traced-call';

/** The context of a served call. Most handlers never read the signal, so it is created lazily. */
export class ServerCall implements CallContext {
  private cancellation: Cancellation | undefined;
  private reason: RpcError | undefined;
  /** Set before the handler runs, if the method's contract declares a permission. */
  actor: CallActor | undefined;

  constructor(
    readonly metadata: CallMetadata,
    readonly deadlineUnixMs: number | undefined,
  ) {}

  get signal(): CancelSignal {
    if (this.cancellation === undefined) {
      this.cancellation = new Cancellation();
      if (this.reason !== undefined) this.cancellation.abort(this.reason);
    }
    return this.cancellation;
  }

  /** Whether the call was cancelled, so that its response is ignored. */
  get aborted(): boolean {
    return this.reason !== undefined;
  }

  abort(reason: RpcError): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.cancellation?.abort(reason);
  }
}

/** How a served call ended. */
export interface RpcCallEnd {
  /** Such as `gateway.auth.v1.Auth/VerifyKey`. */
  readonly rpc: string;
  /** "ok", "cancelled" (by the caller, a deadline or a shutdown), or the error code. */
  readonly outcome: string;
  readonly durationMs: number;
  /** The trace of the call. */
  readonly trace?: ReturnType<typeof traceOfCall>;
}
