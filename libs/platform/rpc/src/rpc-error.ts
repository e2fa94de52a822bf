import { GatewayError, type ErrorCode } from '@gateway/errors';
import type { TransportCall } from './transport';

/**
 * Why a call failed without an answer of its handler:
 * - `unreachable`: there was no connection to send it over, so nothing was done.
 * - `unavailable`: its connection broke, or the service stopped; whether it did the work is not known.
 * - `deadline_exceeded`: no answer in time; whether it did the work is not known.
 * - `unimplemented`: the service does not have the method, as one of an earlier version may not; nothing was done.
 * - `cancelled`: the caller's own signal.
 */
export type RpcFailure = 'unreachable' | 'unavailable' | 'deadline_exceeded' | 'unimplemented' | 'cancelled';

interface FailureRow {
  /** What it is called in logs. */
  readonly name: string;
  readonly code: ErrorCode;
  /** Public text; the error table's when absent. */
  readonly message?: string;
}

const FAILURES: Readonly<Record<RpcFailure, FailureRow>> = {
  unreachable: { name: 'RpcUnreachable', code: 'no_capacity' },
  unavailable: { name: 'RpcUnavailable', code: 'no_capacity' },
  // Not `request_timeout`, which speaks of the model: a service of ours was too slow, and what it did is not known.
  deadline_exceeded: {
    name: 'RpcDeadlineExceeded',
    code: 'no_capacity',
    message: 'A service on our side did not answer in time. Retry in 10 seconds.',
  },
  // It passes as soon as the roll-out of the service has come to its end.
  unimplemented: { name: 'RpcUnimplemented', code: 'no_capacity' },
  // Shown to nobody: who cancels does not wait for an answer.
  cancelled: { name: 'RpcCancelled', code: 'internal_error' },
};

/** A failure of the transport, as opposed to an error that a handler answered with. */
export class RpcError extends GatewayError {
  override readonly name: string;

  constructor(
    readonly failure: RpcFailure,
    internalMessage: string,
    cause?: unknown,
  ) {
    const { name, code, message } = FAILURES[failure];
    super(code, { internalMessage, cause, ...(message === undefined ? {} : { message }) });
    this.name = name;
  }
}

/** Whether the service itself could not be reached, or was lost; false for an answer of `no_capacity`. */
export function isRpcUnavailable(error: unknown): error is RpcError {
  return isRpcUnreachable(error) || isRpcLost(error);
}

/** Whether there was no response: the service was unavailable, or too slow. */
export function isRpcWithoutResponse(error: unknown): error is RpcError {
  return isRpcUnavailable(error) || isRpcDeadlineExceeded(error);
}

/** Whether the call was never sent, so that the service knows nothing of it. */
export function isRpcUnreachable(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'unreachable';
}

/** Whether the service was lost with the call under way: it may do the work all the same, even later. */
export function isRpcLost(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'unavailable';
}

/** Whether the call's own deadline passed; false for an answer of a handler. */
export function isRpcDeadlineExceeded(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'deadline_exceeded';
}

/** Whether the service does not know the method: callers of a later version may do without. */
export function isRpcUnimplemented(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'unimplemented';
}

/** Whether the caller's own signal ended the call. */
export function isRpcCancelled(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'cancelled';
}

export function cancelledCall(call: { readonly service: string; readonly method: string }): RpcError {
  return new RpcError('cancelled', `${call.service}/${call.method} was cancelled by its caller`);
}

export function overdueCall(call: { readonly service: string; readonly method: string }): RpcError {
  return new RpcError('deadline_exceeded', `${call.service}/${call.method} did not answer in time`);
}

/** Why a call need not even start. */
export function endedBeforeStart(call: TransportCall, timeoutMs: number | undefined): RpcError | undefined {
  if (call.signal?.aborted) return cancelledCall(call);
  return timeoutMs !== undefined && timeoutMs <= 0 ? overdueCall(call) : undefined;
}
