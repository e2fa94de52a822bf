import type { Endpoint } from '@gateway/dashboard-contract';
import { type NextFunction, Router, type Request, type Response } from 'express';
import type { DashboardApiPorts } from '../ports';
import { signedInBy } from './guards';
import type { Asked, Implementation, SignedIn } from './implement';
import { readInput } from './read-input';

/** The routes of what is implemented. Who asks is looked at first, then what was sent. */
export function createEndpointRouter(
  ports: DashboardApiPorts,
  implementations: readonly Implementation[],
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const { endpoint, handler } of implementations) {
    const method = endpoint.method.toLowerCase() as Lowercase<Endpoint['method']>;
    router[method](routeOf(endpoint), async (request: Request, response: Response, _next: NextFunction) => {
      const signedIn = endpoint.who === 'anyone' ? undefined : await signedInBy(ports, request);
      const answer = await handler(asked(endpoint, request, response, signedIn));
      if (endpoint.answer.kind === 'json') response.status(endpoint.answer.status).json(answer);
      if (endpoint.answer.kind === 'nothing') response.status(endpoint.answer.status).end();
    });
  }
  return router;
}

/** As express writes it. */
function routeOf({ path }: Endpoint): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function asked(
  endpoint: Endpoint,
  request: Request,
  response: Response,
  signedIn: SignedIn | undefined,
): Asked<Endpoint> {
  const address = (response.locals['clientAddress'] as string | undefined) ?? '';
  const { query, body, headers } = endpoint;
  const read = {
    params: request.params as Record<string, string>,
    query: query ? readInput(query, request.query, 'query') : {},
    body: body ? readInput(body, (request.body as unknown) ?? {}, 'body') : {},
    headers: headers ? readInput(headers, request.headers, 'headers') : {},
    address,
    request,
    response,
  };
  const actor = signedIn && { id: signedIn.member.id, label: signedIn.member.email, ipAddress: address };
  return { ...read, signedIn, actor } as unknown as Asked<Endpoint>;
}
