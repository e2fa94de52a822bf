import type { CancelSignal } from '@gateway/base';
import type { CallMetadata } from './definition';

/** The size limit of messages in bytes, in both directions. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** One call as a transport sees it: names and a payload. */
export interface TransportCall<Payload = unknown> {
  /** Such as "gateway.auth.v1.Auth". */
  readonly service: string;
  /** Such as "VerifyKey". */
  readonly method: string;
  readonly request: Payload;
  /** From the contract's `idempotency_level`: the call may be retried. */
  readonly idempotent?: boolean;
  readonly signal?: CancelSignal;
  readonly timeoutMs?: number;
  readonly metadata?: CallMetadata;
}

/**
 * Sends payloads to a service and returns its responses. Duties of every
 * implementation:
 * - A failure rejects with a GatewayError. Other errors thrown by the handler
 *   arrive as a bare `internal_error`.
 * - Aborting `signal`, or exceeding `timeoutMs`, rejects immediately and aborts
 *   the handler's signal.
 * - A stream buffers a bounded number of unread messages; then the handler waits.
 * - Closing a stream early (`break`, `return()`) aborts the handler's signal.
 */
interface Transport<Payload> {
  unary(call: TransportCall<Payload>): Promise<Payload>;
  serverStream(call: TransportCall<Payload>): AsyncIterableIterator<Payload>;
}

/** For calls between processes. */
export interface BytesTransport extends Transport<Uint8Array> {
  readonly carries: 'bytes';
  /** A transport to each server of the service that is reachable now. Absent: there is one server. */
  readonly everyServer?: () => readonly BytesTransport[];
}

/** For calls within a process: messages are passed by reference, and neither side may change them. */
export interface MessageTransport extends Transport<unknown> {
  readonly carries: 'messages';
}

export type RpcTransport = BytesTransport | MessageTransport;
