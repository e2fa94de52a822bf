export * from './acting-persons';
export * from './api-document';
export * from './begin-idle-transaction';
export * from './bundle-program';
export * from './collect-garbage';
export * from './command-line';
export * from './admin-client';
export * from './database-test-clock';
export * from './documented-settings';
export * from './event-stream';
export * from './eventually';
export * from './fuzz-runs';
export * from './gateway-process';
export * from './mail-server';
export * from './node-options';
export * from './otlp-receiver';
export * from './pdf-documents';
export * from './query-plans';
export * from './schema-catalog';
export * from './scratch-directory';
export * from './seeded-random';
export { createTestClock, type TestClock } from './test-clock';
export * from './test-database';
export * from './text-table';
export * from './unicode-text';
export {
  startIdentityProvider,
  type IdentityProviderUnderTest,
  type AlterResponse,
  type IdentityProviderResponse,
} from './identity-provider/start-identity-provider';
export {
  createSsoBrowser,
  redirectOf,
  type SsoBrowser,
  type VisitedPage,
} from './identity-provider/sso-browser';
