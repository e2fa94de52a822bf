import type { CallFailure } from '@gateway/contracts/batched-calls';
import { GatewayError, toGatewayError } from '@gateway/errors';
import { status, type Metadata, type ServiceError } from '@grpc/grpc-js';
import type { CallMetadata } from '../definition';
import { decodeError, encodeError } from '../error-codec';
import { RpcError, type RpcFailure } from '../rpc-error';

/** Headers that gRPC adds to each call. */
const TRANSPORT_NAMES = new Set(['user-agent', 'content-type', 'te']);

export function pathOf(service: string, method: string): string {
  return `/${service}/${method}`;
}

/** The same bytes as a Buffer, without a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export const identity = (bytes: Buffer): Buffer => bytes;

export function fromGrpcMetadata(headers: Metadata): CallMetadata {
  const pairs = Object.entries(headers.getMap()).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && !TRANSPORT_NAMES.has(pair[0]),
  );
  return Object.fromEntries(pairs);
}

/** The failure for an error that a handler threw. */
export function toCallFailure(thrown: unknown): CallFailure {
  const error = toGatewayError(thrown);
  return { status: error.row.grpcStatus, details: error.code, errorDetail: asBuffer(encodeError(error)) };
}

const REFUSAL_STATUS: Readonly<Partial<Record<RpcFailure, status>>> = {
  unavailable: status.UNAVAILABLE,
  unauthenticated: status.UNAUTHENTICATED,
  unimplemented: status.UNIMPLEMENTED,
};

/** Carries no error of a handler, so that the client gets an RpcError. */
export function toRefusal({ failure, internalMessage = '' }: RpcError): CallFailure {
  return { status: REFUSAL_STATUS[failure] ?? status.PERMISSION_DENIED, details: internalMessage };
}

/** The server refuses a stream, and with it all of its calls. */
export const ACCEPTS_NO_CALLS = 'the server accepts no more calls';

/** gRPC has no status code for this, only these texts. Tests without a server, and with a stopping one, check it. */
function wasNeverSent(details: string): boolean {
  return (
    details === ACCEPTS_NO_CALLS ||
    /^(?:\w+: )?No connection established|^Name resolution failed/.test(details)
  );
}

/** The error of a failed call: the handler's error if there is one, else the failure of the transport. */
export function fromCallFailure(call: string, failure: CallFailure): GatewayError {
  const { status: code, details, errorDetail } = failure;
  return errorDetail ? decodeError(errorDetail) : transportFailure(call, { code, details });
}

/** The error of a call whose stream failed, or that failed without an error of its handler. */
export function transportFailure(
  call: string,
  failure: Pick<ServiceError, 'code' | 'details'>,
): GatewayError {
  const what = `${call}: ${status[failure.code] ?? failure.code} ${failure.details}`;
  switch (failure.code) {
    case status.UNAVAILABLE:
      return new RpcError(wasNeverSent(failure.details) ? 'unreachable' : 'unavailable', what, failure);
    // Cancelled by the peer: after its own cancellation, this client ignores the response.
    case status.CANCELLED:
      return new RpcError('unavailable', what, failure);
    case status.DEADLINE_EXCEEDED:
      return new RpcError('deadline_exceeded', what, failure);
    case status.UNAUTHENTICATED:
      return new RpcError('unauthenticated', what, failure);
    case status.PERMISSION_DENIED:
      return new RpcError('permission_denied', what, failure);
    case status.UNIMPLEMENTED:
      return new RpcError('unimplemented', what, failure);
    default:
      return new GatewayError('internal_error', { internalMessage: what, cause: failure });
  }
}
