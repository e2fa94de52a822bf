import { GatewayError, type ErrorCode } from '@gateway/errors';

/**
 * Why a call failed without an answer of its handler:
 * - `unavailable`: the service could not be reached or its connection broke; whether it did the work is not known.
 * - `deadline_exceeded`: no answer in time; whether it did the work is not known.
 * - `cancelled`: the caller's own signal.
 */
export type RpcFailure = 'unavailable' | 'deadline_exceeded' | 'cancelled';

const CODES: Readonly<Record<RpcFailure, ErrorCode>> = {
  unavailable: 'no_capacity',
  deadline_exceeded: 'request_timeout',
  // Shown to nobody: who cancels does not wait for an answer.
  cancelled: 'internal_error',
};

/** A failure of the transport, as opposed to an error that a handler answered with. */
export class RpcError extends GatewayError {
  constructor(
    readonly failure: RpcFailure,
    internalMessage: string,
    cause?: unknown,
  ) {
    super(CODES[failure], { internalMessage, cause });
  }
}

/** Whether the service itself could not be reached; false for an answer of `no_capacity`. */
export function isRpcUnavailable(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'unavailable';
}

/** Whether the call's own deadline passed; false for an answer of `request_timeout`. */
export function isRpcDeadlineExceeded(error: unknown): error is RpcError {
  return error instanceof RpcError && error.failure === 'deadline_exceeded';
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

export function tooLarge(what: string, bytes: number, limit: number): GatewayError {
  return new GatewayError('internal_error', {
    internalMessage: `${what} of ${bytes} bytes is over the limit of ${limit}`,
  });
}
