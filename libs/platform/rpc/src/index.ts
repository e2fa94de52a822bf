export { actorOf, personOf, type DeniedCall } from './access';
export { actAs, createActingTransport, type ActingTransportOptions } from './acting';
export * from './client';
export * from './definition';
export { encodeMessage, encodeWith } from './encode-message';
export { decodeError, encodeError } from './error-codec';
export { forEachMessage } from './for-each-message';
export { createInProcessTransport, type InProcessTransportOptions } from './in-process/in-process-transport';
export {
  isRpcCancelled,
  isRpcDeadlineExceeded,
  isRpcPermissionDenied,
  isRpcUnauthenticated,
  isRpcWithoutResponse,
  isRpcLost,
  isRpcUnavailable,
  isRpcUnimplemented,
  isRpcUnreachable,
  RpcError,
  type RpcFailure,
} from './rpc-error';
export type { RpcLog } from './served-methods';
export type { RpcCallEnd } from './server-call';
export * from './transport';
