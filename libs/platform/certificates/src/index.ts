export * from './actor-keys';
export * from './authority';
export * from './service-certificates';
