export * from './http-server';
export * from './environment';
export type { TlsFiles } from './tls-files';
