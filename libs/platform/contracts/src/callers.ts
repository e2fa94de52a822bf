import { AUDITED, CALLERS, PERMISSIONS, SERVERS } from './generated/access';

/**
 * `CALLERS`: the services that may call each method, by names such as
 * "gateway.auth.v1.Auth/VerifyKey"; the option `callers` in `proto/`.
 * `CALLS`: the services that each service calls. `SERVERS`: those that serve each definition.
 */
export { CALLERS, CALLS, SERVERS } from './generated/access';

/**
 * By method: `PERMISSIONS` what the acting person needs, `WITHOUT_PERSON` what
 * the service decides by instead, and `AUDITED` the action of its audit entry.
 */
export { AUDITED, PERMISSIONS, WITHOUT_PERSON } from './generated/access';

/** Certificates name a service as `<service>.<domain>`, with this domain unless a setting names another. */
export const DEFAULT_IDENTITY_DOMAIN = 'inference-gateway.internal';

/** Services that act for people. They call the admin port, which nothing on the path of a request reaches. */
export const ADMIN_CALLERS: ReadonlySet<string> = new Set(['dashboard-api', 'demo']);

/** The services that may call a method; none when the contracts do not have it. */
export function callersOf(rpc: string): readonly string[] {
  return Object.hasOwn(CALLERS, rpc) ? (CALLERS[rpc] ?? []) : [];
}

/** What the actor needs to call a method: a permission, "signed_in" or "authenticated"; undefined for methods without an actor. */
export function permissionOf(rpc: string): string | undefined {
  return Object.hasOwn(PERMISSIONS, rpc) ? PERMISSIONS[rpc] : undefined;
}

/** Whether the method changes something, so that it writes an audit entry. */
export function isAudited(rpc: string): boolean {
  return Object.hasOwn(AUDITED, rpc);
}

/** Whether any of a service's methods is open to a caller of the kind. */
export function isServedTo(service: string, kind: 'admins' | 'requests'): boolean {
  return Object.entries(CALLERS).some(
    ([rpc, callers]) =>
      rpc.startsWith(`${service}/`) &&
      callers.some((caller) => ADMIN_CALLERS.has(caller) === (kind === 'admins')),
  );
}

/** Every service that serves or calls, by name. */
export function serviceNames(): readonly string[] {
  return [...new Set([...Object.values(SERVERS), ...Object.values(CALLERS)].flat())].sort();
}
