import type { Logger } from 'pino';

/** What this library needs of a logger; pino's fits. */
export type DatabaseLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
