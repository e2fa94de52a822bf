export * from './http-server';
export * from './environment';
