export { createAuthAdapters, type AuthAdapterOptions, type AuthAdapters } from './adapters/create-adapters';
export { readTimeZones } from './adapters/postgres/read-time-zones';
export { AUTH_SCHEMA, authSchema } from '@gateway/auth-shared/adapters';
export {
  createAuthModule,
  DEFAULT_AUTH_SETTINGS,
  type AuthModulePorts,
  type AuthServiceSettings,
} from './service/module';
export { makeOperator, type OperatorCommandOptions } from './operator-command';
export { openAuthModule, type OpenAuthOptions } from './open-module';
