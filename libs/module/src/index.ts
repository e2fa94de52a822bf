export * from './gateway-module';
export * from './lifecycle';
