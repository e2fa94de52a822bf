import type { CallFailure } from '@gateway/contracts/batched-calls';
import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { GatewayError, toGatewayError } from '@gateway/errors';
import type { CallMetadata } from '../definition';
import { decodeError, encodeError } from '../error-codec';
import { RpcError, type RpcFailure } from '../rpc-error';
import type { TransportCall } from '../transport';

/** The trailer with a gateway.common.v1.ErrorDetail. */
const ERROR_TRAILER = 'gateway-error-bin';

/** Headers that gRPC adds to each call. */
const TRANSPORT_NAMES = new Set(['user-agent', 'content-type', 'te']);

export function pathOf(service: string, method: string): string {
  return `/${service}/${method}`;
}

/** Starts a call. Maps the error of a closed client. */
export function startCall<Started>(call: TransportCall, start: () => Started): Started {
  try {
    return start();
  } catch (cause) {
    throw new RpcError('unreachable', `${pathOf(call.service, call.method)} could not be sent`, cause);
  }
}

/** The same bytes as a Buffer, without a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export const identity = (bytes: Buffer): Buffer => bytes;

export function toGrpcMetadata(metadata: CallMetadata): Metadata {
  const headers = new Metadata();
  for (const name of Object.keys(metadata)) headers.set(name, metadata[name] ?? '');
  return headers;
}

export function fromGrpcMetadata(headers: Metadata): CallMetadata {
  const pairs = Object.entries(headers.getMap()).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && !TRANSPORT_NAMES.has(pair[0]),
  );
  return Object.fromEntries(pairs);
}

export interface GrpcFailure {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** The gRPC status and trailers for an error that a handler threw. */
export function toGrpcFailure(thrown: unknown): GrpcFailure {
  const error = toGatewayError(thrown);
  const metadata = new Metadata();
  metadata.set(ERROR_TRAILER, asBuffer(encodeError(error)));
  return { code: error.row.grpcStatus as number as status, details: error.code, metadata };
}

/** The failure of calls that a stopping server aborts. Without an error detail, so callers see it as unavailable. */
export function stoppingFailure(): GrpcFailure {
  return { code: status.UNAVAILABLE, details: 'the server is stopping', metadata: new Metadata() };
}

export function unimplementedFailure(path: string): GrpcFailure {
  return { code: status.UNIMPLEMENTED, details: `${path} is not served here`, metadata: new Metadata() };
}

const DENIED_STATUS: Readonly<Partial<Record<RpcFailure, status>>> = {
  unauthenticated: status.UNAUTHENTICATED,
  unimplemented: status.UNIMPLEMENTED,
};

/** Carries no error of a handler, so that the client gets an RpcError. */
export function deniedFailure(denied: RpcError): GrpcFailure {
  return {
    code: DENIED_STATUS[denied.failure] ?? status.PERMISSION_DENIED,
    details: denied.internalMessage ?? '',
    metadata: new Metadata(),
  };
}

/** gRPC has no status code for this, only this text. A test without a server checks it. */
function wasNeverSent({ details }: Pick<ServiceError, 'details'>): boolean {
  return /^(?:\w+: )?No connection established|^Name resolution failed/.test(details);
}

/** The error of a failed call: the handler's error if there is one, else the failure of the transport. */
export function fromGrpcFailure(call: string, failure: ServiceError): GatewayError {
  const [detail] = failure.metadata?.get(ERROR_TRAILER) ?? [];
  if (Buffer.isBuffer(detail)) return decodeError(detail);
  return transportFailure(call, failure);
}

/** The message for a failure of a batched call. */
export function toCallFailure({ code, details, metadata }: GrpcFailure): CallFailure {
  const [errorDetail] = metadata.get(ERROR_TRAILER);
  return { status: code, details, ...(Buffer.isBuffer(errorDetail) && { errorDetail }) };
}

/** The error of a batched call that failed. */
export function fromCallFailure(call: string, failure: CallFailure): GatewayError {
  const { status: code, details, errorDetail } = failure;
  return errorDetail ? decodeError(errorDetail) : transportFailure(call, { code, details });
}

function transportFailure(call: string, failure: Pick<ServiceError, 'code' | 'details'>): GatewayError {
  const what = `${call}: ${status[failure.code] ?? failure.code} ${failure.details}`;
  switch (failure.code) {
    case status.UNAVAILABLE:
      return new RpcError(wasNeverSent(failure) ? 'unreachable' : 'unavailable', what, failure);
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
