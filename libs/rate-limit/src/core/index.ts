export * from './decide-admission';
export * from './limit-store';
export * from './limits';
