export * from './module';
export * from './natural-batcher';
