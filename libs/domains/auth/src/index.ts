export { createAuthAdapters, type AuthAdapterOptions, type AuthAdapters } from './adapters/create-adapters';
export { AUTH_SCHEMA } from './adapters/prisma/client';
export { authMigrations } from './adapters/prisma/migrations';
export type { AuthSettings } from './core/ports';
export { createAuthModule, DEFAULT_AUTH_SETTINGS, type AuthModulePorts } from './service/module';
export { authEnvironment, authSettingsOf, oidcSettingsOf, requireWholeOidc } from './service/environment';
export { makeSealingKey } from './adapters/crypto/sealed-secrets';
export { isSealingKey } from './core/sign-in/sealing-key';
