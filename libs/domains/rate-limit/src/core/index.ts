export * from './decide-admission';
export * from './ports';
export * from './limits';
