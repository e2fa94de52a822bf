export type { RpcTls } from './grpc-options';
export * from './grpc-server';
export * from './grpc-transport';
export * from './health';
