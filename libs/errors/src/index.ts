export * from './catalogue';
export * from './envelope';
export * from './gateway-error';
export * from './refusal';
