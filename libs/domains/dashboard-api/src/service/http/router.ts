import type { ActingPerson } from '@gateway/actors';
import { MemberRole, OrganizationRole } from '@gateway/contracts/auth';
import { allEndpoints, isPlatformPermission, type Endpoint } from '@gateway/dashboard-contract';
import { Router, type Request, type Response } from 'express';
import { actAs } from '@gateway/rpc';
import { z } from 'zod';
import type { DashboardApiPorts } from '../ports';
import { addressOf, authorize } from './guards';
import type { HandlerInput, Implementation, SignedIn } from './implement';
import { readInput } from './read-input';
import { sendJson } from './send-json';

const NO_QUERY = z.strictObject({});

/**
 * The routes of the whole contract. A request is authorized before it is validated.
 * @throws Error when an endpoint of the contract has no handler, or two.
 */
export function createEndpointRouter(
  ports: DashboardApiPorts,
  implementations: readonly Implementation[],
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const handlers = handlersOf(implementations);
  for (const endpoint of allEndpoints()) {
    const handler = handlers.get(endpoint);
    if (!handler) throw new Error(`${endpoint.method} ${endpoint.path} has no handler`);
    const method = endpoint.method.toLowerCase() as Lowercase<Endpoint['method']>;
    router[method](routeOf(endpoint), async (request: Request, response: Response) => {
      const signedIn = await authorizeFor(ports, endpoint, request, response);
      const handle = () => handler(inputOf(endpoint, request, response, signedIn));
      const result = await (signedIn
        ? actAs(personOf(endpoint, signedIn, request, response), handle)
        : handle());
      if (endpoint.response.kind === 'json') await sendJson(request, response, endpoint, result);
      if (endpoint.response.kind === 'no_content') response.status(endpoint.response.status).end();
    });
  }
  return router;
}

function handlersOf(implementations: readonly Implementation[]): Map<Endpoint, Implementation['handler']> {
  const handlers = new Map<Endpoint, Implementation['handler']>();
  for (const { endpoint, handler } of implementations) {
    if (handlers.has(endpoint)) throw new Error(`${endpoint.method} ${endpoint.path} has two handlers`);
    handlers.set(endpoint, handler);
  }
  return handlers;
}

/** The path in express syntax. */
function routeOf({ path }: Endpoint): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Undefined for endpoints without a session. */
async function authorizeFor(
  ports: DashboardApiPorts,
  { access }: Endpoint,
  request: Request,
  response: Response,
): Promise<SignedIn | undefined> {
  if (access === 'anyone') return undefined;
  const address = addressOf(response);
  if (access === 'signed_in') return authorize(ports, request, { address });
  const organizationId = request.params['organization_id'];
  // Only platform permissions apply without an organization.
  if (organizationId === undefined && !isPlatformPermission(access))
    throw new Error(`${access} needs an organization`);
  return authorize(ports, request, {
    permission: access,
    ...(typeof organizationId === 'string' ? { organizationId } : {}),
    address,
  });
}

/** The person whom the other services see. They act only in the organization for which auth has authorized the request. */
function personOf(
  { access }: Endpoint,
  { session, member, organizationRole }: SignedIn,
  request: Request,
  response: Response,
): ActingPerson {
  const organizationId = access === 'signed_in' ? undefined : request.params['organization_id'];
  const role = organizationRole && ORGANIZATION_ROLES[organizationRole];
  return {
    id: member.id,
    label: member.email,
    ipAddress: addressOf(response),
    sessionId: session.id,
    memberRole: member.role === MemberRole.MEMBER_ROLE_OPERATOR ? 'operator' : 'member',
    ...(typeof organizationId === 'string' && {
      organization: { id: organizationId, ...(role && { role }) },
    }),
  };
}

const ORGANIZATION_ROLES = {
  [OrganizationRole.ORGANIZATION_ROLE_UNSPECIFIED]: undefined,
  [OrganizationRole.ORGANIZATION_ROLE_OWNER]: 'owner',
  [OrganizationRole.ORGANIZATION_ROLE_ADMIN]: 'admin',
  [OrganizationRole.ORGANIZATION_ROLE_MEMBER]: 'member',
} as const;

function inputOf(
  endpoint: Endpoint,
  request: Request,
  response: Response,
  signedIn: SignedIn | undefined,
): HandlerInput<Endpoint> {
  const address = addressOf(response);
  const { query = NO_QUERY, body, headers } = endpoint;
  const read = {
    params: request.params as Record<string, string>,
    query: readInput(query, request.query, 'query'),
    body: body ? readInput(body, (request.body as unknown) ?? {}, 'body') : {},
    headers: headers ? readInput(headers, request.headers, 'headers') : {},
    address,
    request,
    response,
  };
  return { ...read, signedIn } as unknown as HandlerInput<Endpoint>;
}
