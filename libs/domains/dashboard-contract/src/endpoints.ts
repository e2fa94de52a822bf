import type { Endpoint, EndpointNameOf } from './endpoint';
import { accountEndpoints } from './families/account';
import { auditEndpoints } from './families/audit';
import { catalogueEndpoints } from './families/catalogue';
import { contentLogEndpoints } from './families/content-log';
import { creditEndpoints } from './families/credit';
import { deadLetterEndpoints } from './families/dead-letters';
import { generationEndpoints } from './families/generations';
import { keyEndpoints } from './families/keys';
import { managementTokenEndpoints } from './families/management-tokens';
import { notificationEndpoints } from './families/notifications';
import { operatorEndpoints } from './families/operator';
import { organizationEndpoints } from './families/organizations';
import { peopleEndpoints } from './families/people';
import { playgroundEndpoints } from './families/playground';
import { projectEndpoints } from './families/projects';
import { sessionEndpoints } from './families/session';
import { usageEndpoints } from './families/usage';

/** Every endpoint of the dashboard API, by family. */
export const endpoints = {
  session: sessionEndpoints,
  account: accountEndpoints,
  organizations: organizationEndpoints,
  people: peopleEndpoints,
  projects: projectEndpoints,
  keys: keyEndpoints,
  managementTokens: managementTokenEndpoints,
  credit: creditEndpoints,
  usage: usageEndpoints,
  generations: generationEndpoints,
  contentLog: contentLogEndpoints,
  audit: auditEndpoints,
  playground: playgroundEndpoints,
  operator: operatorEndpoints,
  catalogue: catalogueEndpoints,
  notifications: notificationEndpoints,
  deadLetters: deadLetterEndpoints,
} as const;

type Families = typeof endpoints;
export type FamilyName = keyof Families;

/** One of the endpoints, with its exact types. */
export type AnyEndpoint = { [Family in FamilyName]: Families[Family][keyof Families[Family]] }[FamilyName];

/** The name of an endpoint, such as "GET /api/session". */
export type EndpointName = EndpointNameOf<AnyEndpoint>;

export type EndpointOf<Name extends EndpointName> = Name extends `${infer Method} ${infer Path}`
  ? Extract<AnyEndpoint, { readonly method: Method; readonly path: Path }>
  : never;

export function allEndpoints(): readonly Endpoint[] {
  return Object.values(endpoints).flatMap((family) => Object.values<Endpoint>(family));
}
