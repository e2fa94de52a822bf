export * from './backoff';
export * from './brand';
export * from './minute-window';
export * from './money';
export * from './pricing';
export * from './time';
export * from './unreachable';
export * from './log-sampler';
