export type { RpcTls, RpcTlsFiles } from './grpc-options';
export * from './grpc-server';
export * from './grpc-transport';
export {
  createReplicatedTransport,
  defaultReplicaLimits,
  type ReplicatedTransportLimits,
  type ReplicatedTransportOptions,
} from './replicas/replicated-transport';
export { checkTarget } from './replicas/addresses';
