export * from './banner';
export * from './dev-file';
export * from './ensure-demo';
export * from './introduce';
export * from './state-directory';
