import type { Logger } from 'pino';

/** The used methods of a logger. Compatible with pino. */
export type DatabaseLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
