export * from './gateway-module';
export * from './lifecycle';
export * from './rpc-metrics';
