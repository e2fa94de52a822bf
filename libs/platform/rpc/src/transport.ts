import type { CancelSignal } from '@gateway/base';
import type { CallMetadata } from './definition';

/** The largest message that any transport carries, in bytes, in either direction. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** One call as a transport sees it: names and a payload, nothing of what it means. */
export interface TransportCall<Payload = unknown> {
  /** Such as "gateway.auth.v1.Auth". */
  readonly service: string;
  /** Such as "VerifyKey". */
  readonly method: string;
  readonly request: Payload;
  /** Its contract says that doing it twice has the effect of once: it may be sent again. */
  readonly idempotent?: boolean;
  readonly signal?: CancelSignal;
  readonly timeoutMs?: number;
  readonly metadata?: CallMetadata;
}

/**
 * Moves payloads to a service and back. Duties of every implementation:
 * - A failure rejects with a GatewayError. What the handler did not throw as
 *   one arrives as a bare `internal_error`.
 * - Aborting `signal`, or running out of `timeoutMs`, rejects at once and aborts
 *   the handler's signal.
 * - A stream holds a bounded number of unread messages; then the handler waits.
 * - Leaving a stream early (`break`, `return()`) aborts the handler's signal.
 */
interface Transport<Payload> {
  unary(call: TransportCall<Payload>): Promise<Payload>;
  serverStream(call: TransportCall<Payload>): AsyncIterableIterator<Payload>;
}

/** Between processes. */
export interface BytesTransport extends Transport<Uint8Array> {
  readonly carries: 'bytes';
}

/** Within a process: messages cross as they are, and both sides leave them so. */
export interface MessageTransport extends Transport<unknown> {
  readonly carries: 'messages';
}

export type RpcTransport = BytesTransport | MessageTransport;
