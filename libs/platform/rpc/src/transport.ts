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

/** Receives the messages of a call and its end. */
export interface StreamReader<Payload> {
  /** @param cost what the reader reports when it has taken the message */
  message(payload: Payload, cost: number): void;
  /** After all messages, once. Without an error: the call succeeded. */
  end(error: Error | undefined): void;
}

/** A call with a stream of responses, in flight. */
export interface StartedStream {
  /** The reader waits for another message. Since the last report it took messages of the cost `taken`. */
  read(taken: number): void;
  /** The reader no longer waits: it is not called again, and the handler is aborted. Does nothing after the end. */
  cancel(): void;
}

/** Starts a call whose first message is awaited. What it throws is the failure of the call. */
export type StartStream<Payload> = (
  call: TransportCall<Payload>,
  reader: StreamReader<Payload>,
) => StartedStream;

/**
 * Sends payloads to a service and returns its responses. Duties of every
 * implementation:
 * - A failure rejects with a GatewayError. Other errors thrown by the handler
 *   arrive as a bare `internal_error`.
 * - Aborting `signal`, or exceeding `timeoutMs`, rejects immediately and aborts
 *   the handler's signal.
 * - A stream sends a bounded number of messages before they are taken; then the handler waits.
 * - Cancelling a stream aborts the handler's signal.
 */
interface Transport<Payload> {
  unary(call: TransportCall<Payload>): Promise<Payload>;
  /** Starts a call whose responses a MessageStream reads. */
  readonly serverStream: StartStream<Payload>;
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
