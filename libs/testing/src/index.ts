export * from './eventually';
export * from './fuzz-runs';
export * from './gateway-process';
export * from './process-tree';
export * from './scratch-directory';
export * from './seeded-random';
export * from './test-clock';
export * from './test-database';
