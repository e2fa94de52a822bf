import { CALLERS, SERVERS } from './generated/access';

/** Certificates name a service as `<service>.<domain>`, with this domain unless a setting names another. */
export const DEFAULT_IDENTITY_DOMAIN = 'inference-gateway.internal';

/**
 * Whether a service may call a method: the option `callers` of the method in
 * `proto/`. An unknown method has no callers.
 *
 * @param rpc such as "gateway.auth.v1.Auth/VerifyKey".
 * @param caller the name of a service, such as "edge-proxy".
 */
export function mayCall(caller: string | undefined, rpc: string): boolean {
  return caller !== undefined && callersOf(rpc).includes(caller);
}

/** The services that may call a method; none when the method is unknown. */
export function callersOf(rpc: string): readonly string[] {
  return Object.hasOwn(CALLERS, rpc) ? (CALLERS[rpc] ?? []) : [];
}

/** Every method of the contracts with its callers. */
export function callerTable(): Readonly<Record<string, readonly string[]>> {
  return CALLERS;
}

/** The services that each service calls, both by name. */
export function callsBetweenServices(): ReadonlyMap<string, ReadonlySet<string>> {
  const calls = new Map<string, Set<string>>();
  for (const [rpc, callers] of Object.entries(CALLERS)) {
    const servers = SERVERS[rpc.slice(0, rpc.indexOf('/'))] ?? [];
    for (const caller of callers) {
      const called = calls.get(caller) ?? new Set();
      for (const server of servers) called.add(server);
      calls.set(caller, called);
    }
  }
  return calls;
}

/** Services that act for people. They call the admin port, which nothing on the path of a request reaches. */
export const ADMIN_CALLERS: ReadonlySet<string> = new Set(['dashboard-api', 'demo']);

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
