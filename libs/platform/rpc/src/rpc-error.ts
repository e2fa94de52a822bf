import { GatewayError, type ErrorCode } from '@gateway/errors';
import type { TransportCall } from './transport';

/**
 * Why a call failed without a response of its handler:
 * - `unreachable`: there was no connection, so the call was never sent.
 * - `unavailable`: the connection broke or the service stopped; the handler may have run.
 * - `deadline_exceeded`: no response in time; the handler may have run.
 * - `unimplemented`: the service lacks the method, for example in an earlier version; nothing ran.
 * - `permission_denied`: the contract does not name the caller, or the person lacks the permission; nothing ran.
 * - `unauthenticated`: the method needs the assertion of a person, and there is no valid one; nothing ran.
 * - `cancelled`: the caller's own signal aborted.
 */
export type RpcFailure =
  | 'unreachable'
  | 'unavailable'
  | 'deadline_exceeded'
  | 'unimplemented'
  | 'permission_denied'
  | 'unauthenticated'
  | 'cancelled';

interface FailureRow {
  /** The error name in logs. */
  readonly name: string;
  readonly code: ErrorCode;
  /** Public text. Defaults to the text of the error table. */
  readonly message?: string;
}

const FAILURES: Readonly<Record<RpcFailure, FailureRow>> = {
  unreachable: { name: 'RpcUnreachable', code: 'no_capacity' },
  unavailable: { name: 'RpcUnavailable', code: 'no_capacity' },
  // Not `request_timeout`, which means a timeout of the model.
  deadline_exceeded: {
    name: 'RpcDeadlineExceeded',
    code: 'no_capacity',
    message: 'An internal service did not respond in time. Retry in 10 seconds.',
  },
  // Resolved once the rollout of the service completes.
  unimplemented: { name: 'RpcUnimplemented', code: 'no_capacity' },
  permission_denied: { name: 'RpcPermissionDenied', code: 'internal_error' },
  unauthenticated: { name: 'RpcUnauthenticated', code: 'internal_error' },
  // Never shown: a caller that cancels ignores the response.
  cancelled: { name: 'RpcCancelled', code: 'internal_error' },
};

/** A failure of the transport, as opposed to an error thrown by a handler. */
export class RpcError extends GatewayError {
  override readonly name: string;

  constructor(
    readonly failure: RpcFailure,
    internalMessage: string,
    cause?: unknown,
  ) {
    const { name, code, message } = FAILURES[failure];
    super(code, { internalMessage, cause, message });
    this.name = name;
  }
}

/** Whether the service was unreachable, or lost during the call. False for a handler's own `no_capacity`. */
export function isRpcUnavailable(error: unknown): error is RpcError {
  return isRpcUnreachable(error) || isRpcLost(error);
}

/** Whether there was no response: the service was unavailable or too slow. */
export function isRpcWithoutResponse(error: unknown): error is RpcError {
  return isRpcUnavailable(error) || isRpcDeadlineExceeded(error);
}

/** Whether the call was never sent. */
export function isRpcUnreachable(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'unreachable';
}

/** Whether the connection was lost with the call in flight: the handler may still run, even later. */
export function isRpcLost(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'unavailable';
}

/** Whether the call's deadline passed. False for a handler's own error. */
export function isRpcDeadlineExceeded(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'deadline_exceeded';
}

/** Whether the service lacks the method. Callers of a later version may fall back. */
export function isRpcUnimplemented(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'unimplemented';
}

/** Whether the service found no valid assertion of a person. */
export function isRpcUnauthenticated(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'unauthenticated';
}

/** Whether the service refused the caller's identity or the person. */
export function isRpcPermissionDenied(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'permission_denied';
}

/** Whether the caller's own signal ended the call. */
export function isRpcCancelled(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'cancelled';
}

export function cancelledCall(call: { readonly service: string; readonly method: string }): RpcError {
  return new RpcError('cancelled', `${call.service}/${call.method} was cancelled by its caller`);
}

export function overdueCall(call: { readonly service: string; readonly method: string }): RpcError {
  return new RpcError('deadline_exceeded', `${call.service}/${call.method} did not respond in time`);
}

/** The failure of a call that is already cancelled or overdue. */
export function failureBeforeStart(call: TransportCall, timeoutMs: number | undefined): RpcError | undefined {
  if (call.signal?.aborted) return cancelledCall(call);
  return timeoutMs !== undefined && timeoutMs <= 0 ? overdueCall(call) : undefined;
}
