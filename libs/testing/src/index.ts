export * from './fuzz-runs';
export * from './scratch-directory';
export * from './seeded-random';
export * from './test-clock';
export * from './test-database';
