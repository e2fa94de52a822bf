export * from './describe-with';
export * from './find-program';
export * from './redis';
export * from './tethered-process';
export * from './kafka';
export * from './pgbouncer';
export * from './tcp-relay';
