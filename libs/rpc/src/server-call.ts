import type { CallContext, CallMetadata } from './definition';
import type { RpcError } from './rpc-error';

/**
 * What a handler sees of its call. Most handlers never look at the signal, so
 * it is made when it is first asked for.
 */
export class ServerCall implements CallContext {
  #controller: AbortController | undefined;
  #reason: RpcError | undefined;

  constructor(
    readonly metadata: CallMetadata,
    readonly deadlineUnixMs: number | undefined,
  ) {}

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Whether nobody waits for the answer any more. */
  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  abort(reason: RpcError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
