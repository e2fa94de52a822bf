import { Cancellation, type CancelSignal } from '@gateway/base';
import type { CallContext, CallMetadata } from './definition';
import type { RpcError } from './rpc-error';

/**
 * What a handler sees of its call. Most handlers never look at the signal, so
 * it is made when it is first asked for.
 */
export class ServerCall implements CallContext {
  #cancellation: Cancellation | undefined;
  #reason: RpcError | undefined;

  constructor(
    readonly metadata: CallMetadata,
    readonly deadlineUnixMs: number | undefined,
  ) {}

  get signal(): CancelSignal {
    if (this.#cancellation === undefined) {
      this.#cancellation = new Cancellation();
      if (this.#reason !== undefined) this.#cancellation.abort(this.#reason);
    }
    return this.#cancellation;
  }

  /** Whether nobody waits for the answer any more. */
  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  abort(reason: RpcError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#cancellation?.abort(reason);
  }
}
