export * from './case';
export * from './deployment';
export * from './dialects';
export * from './expectations';
export * from './http';
export * from './run';
export * from './requests';
