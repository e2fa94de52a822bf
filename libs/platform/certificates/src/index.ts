export * from './authority';
export * from './service-certificates';
