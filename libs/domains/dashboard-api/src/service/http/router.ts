import { allEndpoints, isPlatformPermission, type Endpoint } from '@gateway/dashboard-contract';
import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import type { DashboardApiPorts } from '../ports';
import { addressOf, admitted } from './guards';
import type { Asked, Implementation, SignedIn } from './implement';
import { readInput } from './read-input';

const NO_QUERY = z.strictObject({});

/**
 * The routes of the whole contract. Who asks is looked at first, then what was sent.
 *
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
      const signedIn = await admittedTo(ports, endpoint, request, response);
      const answer = await handler(asked(endpoint, request, response, signedIn));
      if (endpoint.answer.kind === 'json') response.status(endpoint.answer.status).json(answer);
      if (endpoint.answer.kind === 'nothing') response.status(endpoint.answer.status).end();
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

/** As express writes it. */
function routeOf({ path }: Endpoint): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Whom the endpoint is for; undefined where it is for anybody. */
async function admittedTo(
  ports: DashboardApiPorts,
  { who }: Endpoint,
  request: Request,
  response: Response,
): Promise<SignedIn | undefined> {
  if (who === 'anyone') return undefined;
  const address = addressOf(response);
  if (who === 'signed_in') return admitted(ports, request, { address });
  const organizationId = request.params['organization_id'];
  // An operator's deed in an organization is one there has to be.
  if (organizationId === undefined && !isPlatformPermission(who))
    throw new Error(`${who} of no organization`);
  return admitted(ports, request, {
    permission: who,
    ...(typeof organizationId === 'string' ? { organizationId } : {}),
    address,
  });
}

function asked(
  endpoint: Endpoint,
  request: Request,
  response: Response,
  signedIn: SignedIn | undefined,
): Asked<Endpoint> {
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
  const actor = signedIn && { id: signedIn.member.id, label: signedIn.member.email, ipAddress: address };
  return { ...read, signedIn, actor } as unknown as Asked<Endpoint>;
}
