export * from './gateway-module';
export * from './incident-reporter';
export * from './lifecycle';
export * from './reconciliation';
export * from './rpc-metrics';
