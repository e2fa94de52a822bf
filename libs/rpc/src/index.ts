export * from './bound-service';
export * from './client';
export * from './definition';
export { decodeError, encodeError } from './error-codec';
export * from './grpc/grpc-server';
export * from './grpc/grpc-transport';
export type { RpcTls } from './grpc/grpc-options';
export * from './health';
export { createInProcessTransport, type InProcessTransportOptions } from './in-process-transport';
export { MAX_MESSAGE_BYTES } from './limits';
export {
  isRpcCancelled,
  isRpcDeadlineExceeded,
  isRpcUnavailable,
  RpcError,
  type RpcFailure,
} from './rpc-error';
export type { RpcLog } from './served-methods';
export * from './transport';
