export * from './http-server';
