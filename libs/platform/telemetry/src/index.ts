export * from './batch';
export * from './environment';
export * from './open-telemetry';
export * from './telemetry';
export * from './traced';
export * from './tracing';
