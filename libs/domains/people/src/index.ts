export {
  createPeopleAdapters,
  type PeopleAdapterOptions,
  type PeopleAdapters,
} from './adapters/create-adapters';
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
export { createAccountEndpoints } from './service/account-endpoints';
export { createEnsureMemberHandler } from './service/ensure-member-handler';
export { createManagementTokenEndpoints } from './service/management-token-endpoints';
export { createPeopleMetrics } from './service/metrics';
export { createPeopleEndpoints } from './service/people-endpoints';
export { createSessionEndpoints } from './service/session-endpoints';
export { createSignInEndpoints } from './service/sign-in-endpoints';
