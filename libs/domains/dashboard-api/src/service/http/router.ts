import { personLabel } from '@gateway/base';
import type { CallActor } from '@gateway/actors';
import { readInput, type RawInput, type RequestClient } from '@gateway/admin-calls';
import {
  allEndpoints,
  isPermission,
  isPlatformPermission,
  nameOf,
  type Endpoint,
} from '@gateway/dashboard-contract';
import { Router, type Request, type Response } from 'express';
import { actAs } from '@gateway/rpc';
import { z } from 'zod';
import type { DashboardApiPorts } from '../ports';
import { authorize } from './guards';
import type { HandlerInput, Implementation, Requester } from './implement';
import { requestClientOf } from './request-client';
import { sendJson } from './send-json';

const NO_QUERY = z.strictObject({});

/**
 * The routes of the whole contract. A request is authorized before it is validated. Without a handler, it is forwarded
 * to the endpoint's owner, which authorizes and validates it.
 * @throws Error when an endpoint of the contract has neither a handler nor an owner, or two handlers.
 */
export function createEndpointRouter(
  ports: DashboardApiPorts,
  implementations: readonly Implementation[],
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const handlers = handlersOf(implementations);
  for (const endpoint of allEndpoints()) {
    const respond = responderOf(ports, endpoint, handlers.get(endpoint));
    const method = endpoint.method.toLowerCase() as Lowercase<Endpoint['method']>;
    router[method](routeOf(endpoint), async (request: Request, response: Response) => {
      const client = requestClientOf(ports.settings, request, response);
      const requester = await authorizeFor(ports, endpoint, request, client);
      const handle = () => respond(request, response, client, requester);
      const json = await (requester
        ? actAs(actorOf(endpoint, requester, request, client), handle)
        : handle());
      if (endpoint.response.kind === 'json') await sendJson(request, response, endpoint, json);
      if (endpoint.response.kind === 'no_content') response.status(endpoint.response.status).end();
    });
  }
  return router;
}

/** Returns the JSON of a response; empty for those without, and for those that the handler has sent. */
type Responder = (
  request: Request,
  response: Response,
  client: RequestClient,
  requester: Requester | undefined,
) => Promise<string>;

function responderOf(
  { owners }: DashboardApiPorts,
  endpoint: Endpoint,
  handler: Implementation['handler'] | undefined,
): Responder {
  if (handler) {
    return async (...args) => JSON.stringify(await handler(inputOf(endpoint, ...args))) ?? '';
  }
  const { owner } = endpoint;
  if (!owner) throw new Error(`${nameOf(endpoint)} has neither a handler nor an owner`);
  return (request, _response, client) =>
    owners[owner].forward(endpoint, { ...rawInputOf(endpoint, request), client });
}

/** The parts of a request that the endpoint reads. */
function rawInputOf({ headers }: Endpoint, request: Request): RawInput {
  const read = Object.keys(headers?.shape ?? {});
  return {
    params: request.params as Record<string, string>,
    query: request.query,
    body: (request.body as unknown) ?? {},
    headers: Object.fromEntries(read.map((name) => [name, request.headers[name]])),
  };
}

function handlersOf(implementations: readonly Implementation[]): Map<Endpoint, Implementation['handler']> {
  const handlers = new Map<Endpoint, Implementation['handler']>();
  for (const { endpoint, handler } of implementations) {
    if (handlers.has(endpoint)) throw new Error(`${nameOf(endpoint)} has two handlers`);
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
  { access, method, confirmed }: Endpoint,
  request: Request,
  client: RequestClient,
): Promise<Requester | undefined> {
  if (access === 'anyone') return undefined;
  const input = {
    access,
    confirmed: confirmed === true,
    changes: method !== 'GET',
    client,
  };
  if (!isPermission(access)) return authorize(ports, request, input);
  const organizationId = request.params['organization_id'];
  // Only platform permissions apply without an organization.
  if (organizationId === undefined && !isPlatformPermission(access))
    throw new Error(`${access} needs an organization`);
  return authorize(ports, request, {
    ...input,
    ...(typeof organizationId === 'string' ? { organizationId } : {}),
  });
}

/** The actor whom the other services see. They act only in the organization for which auth has authorized the request. */
function actorOf(
  { access }: Endpoint,
  requester: Requester,
  request: Request,
  { ipAddress }: RequestClient,
): CallActor {
  const pathId = isPermission(access) ? request.params['organization_id'] : undefined;
  const requestedId = typeof pathId === 'string' ? pathId : undefined;
  if (requester.kind === 'person') {
    const { member, session_id: sessionId, organization_role: role } = requester.signedIn;
    return {
      id: member.id,
      label: personLabel(member),
      ipAddress,
      sessionId,
      memberRole: member.role,
      ...(requestedId !== undefined && { organization: { id: requestedId, ...(role && { role }) } }),
    };
  }
  // A token of an organization acts there only, so its assertion names it in requests without one too.
  const { id, label, access: tokenAccess, scope } = requester.token;
  const organizationId = scope?.organization_id ?? requestedId;
  const role = scope?.role;
  return {
    id,
    label,
    ipAddress,
    tokenAccess,
    memberRole: scope ? 'member' : 'operator',
    ...(organizationId !== undefined && { organization: { id: organizationId, ...(role && { role }) } }),
  };
}

function inputOf(
  endpoint: Endpoint,
  request: Request,
  response: Response,
  client: RequestClient,
  requester: Requester | undefined,
): HandlerInput<Endpoint> {
  const { query = NO_QUERY, body, headers } = endpoint;
  const read = {
    params: request.params as Record<string, string>,
    query: readInput(query, request.query, 'query'),
    body: body ? readInput(body, (request.body as unknown) ?? {}, 'body') : {},
    sent: (request.body as unknown) ?? {},
    headers: headers ? readInput(headers, request.headers, 'headers') : {},
    client,
    request,
    response,
  };
  const signedIn = requester?.kind === 'person' ? requester.signedIn : undefined;
  const isOperator =
    requester?.kind === 'token' ? requester.token.scope === null : signedIn?.member.role === 'operator';
  return { ...read, signedIn, isOperator } as unknown as HandlerInput<Endpoint>;
}
