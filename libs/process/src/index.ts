export * from './await-dependency';
export * from './run-service';
export * from './settings';
