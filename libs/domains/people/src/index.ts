export {
  createPeopleAdapters,
  type PeopleAdapterOptions,
  type PeopleAdapters,
} from './adapters/create-adapters';
export { makeSealingKey } from './adapters/crypto/sealed-secrets';
export { refuseUnlessPermitted, SYSTEM_ACTOR_ID } from './core/access/authorize';
export type { PeoplePorts, PeopleSettings } from './core/ports';
export { ATTEMPT_WINDOW_MS, MAX_ATTEMPTS } from './core/sign-in/sign-in-throttle';
export { isSealingKey } from './core/sign-in/sealing-key';
export {
  DEFAULT_PEOPLE_SETTINGS,
  oidcSettingsOf,
  peopleEnvironment,
  peopleSettingsOf,
  type PeopleEnvironment,
  requireWholeOidc,
} from './service/environment';
export { createPeopleHandlers } from './service/handlers';
