export * from './brand';
export * from './money';
export * from './pricing';
export * from './time';
export * from './unreachable';
