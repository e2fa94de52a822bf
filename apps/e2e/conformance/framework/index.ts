export * from './case';
export * from './deployment';
export * from './expectations';
export * from './http';
export * from './run';
export * from './requests';
