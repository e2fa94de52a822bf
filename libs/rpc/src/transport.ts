import type { CallMetadata } from './definition';

/** One call as a transport sees it: names and bytes, nothing of the messages. */
export interface TransportCall {
  /** Such as "gateway.auth.v1.Auth". */
  readonly service: string;
  /** Such as "VerifyKey". */
  readonly method: string;
  readonly request: Uint8Array;
  /** Its contract says that doing it twice has the effect of once: it may be sent again. */
  readonly idempotent?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly metadata?: CallMetadata;
}

/**
 * Moves bytes to a service and back. Duties of every implementation:
 * - A failure rejects with a GatewayError. What the handler did not throw as
 *   one arrives as a bare `internal_error`.
 * - Aborting `signal`, or running out of `timeoutMs`, rejects at once and aborts
 *   the handler's signal.
 * - A stream holds a bounded number of unread messages; then the handler waits.
 * - Leaving a stream early (`break`, `return()`) aborts the handler's signal.
 */
export interface RpcTransport {
  unary(call: TransportCall): Promise<Uint8Array>;
  serverStream(call: TransportCall): AsyncIterable<Uint8Array>;
}
