export * from './admin-server';
export * from './clock';
export * from './config';
export * from './ids';
export * from './logger';
export * from './metrics';
export * from './natural-batcher';
export * from './run-process';
