export {
  createPeopleAdapters,
  type PeopleAdapterOptions,
  type PeopleAdapters,
} from './adapters/create-adapters';
export { refuseUnlessConfirmed } from './core/sign-in/confirm-session';
export { refuseUnlessPermitted, type PermissionPorts } from './core/access/authorize';
export { grantOperator, type GrantOperator } from './core/people/grant-operator';
export type { PeoplePorts, PeopleSettings } from './core/ports';
export { ATTEMPT_WINDOW_MS, MAX_ATTEMPTS } from './core/sign-in/sign-in-throttle';
export {
  DEFAULT_PEOPLE_SETTINGS,
  oidcSettingsOf,
  peopleEnvironment,
  peopleSettingsOf,
  type PeopleEnvironment,
  requireCompleteOidc,
} from './service/environment';
export { withCurrentAccess } from './service/current-access';
export { createPeopleHandlers } from './service/handlers';
export { createManagementTokenEndpoints } from './service/management-token-endpoints';
export { createPeopleEndpoints } from './service/people-endpoints';
