export * from './error-table';
export * from './envelope';
export * from './gateway-error';
export * from './refusal';
export * from './unavailable-as-no-capacity';
