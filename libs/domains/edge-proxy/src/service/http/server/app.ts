import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Endpoint } from '@gateway/public-api';
import type { RouteName } from '../exchange';
import { pathOf } from '../request/query';

/** Handles one request; never throws. */
type Serve = (route: RouteName, request: IncomingMessage, response: ServerResponse) => void;

export interface AppPorts {
  /** The endpoints that this deployment serves. */
  readonly endpoints: readonly Endpoint[];
  readonly serve: Serve;
  /** Responds to errors outside of `serve`. */
  readonly serveFailure: (error: unknown, request: IncomingMessage, response: ServerResponse) => void;
}

/**
 * The public routes. Paths match exactly, case and trailing slash included.
 * Everything else, OPTIONS included, is an unknown route.
 *
 * Nearly every request matches a route literally and is found in a Map. Express
 * handles the rest, such as HEAD or absolute-form URLs; its route matching would
 * cost as much as all checks of a request.
 */
export function createApp(ports: AppPorts): RequestListener {
  const app = createExpressApp(ports);
  const routes = new Map<string | undefined, Map<string, RouteName>>();
  for (const { name, method, path } of ports.endpoints) {
    const ofMethod = routes.get(method);
    if (ofMethod) ofMethod.set(path, name);
    else routes.set(method, new Map([[path, name]]));
  }
  return (request, response) => {
    const route = routes.get(request.method)?.get(pathOf(request));
    if (route === undefined) app(request, response);
    else ports.serve(route, request, response);
  };
}

function createExpressApp({ endpoints, serve, serveFailure }: AppPorts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');

  const to =
    (route: RouteName): RequestHandler =>
    (request, response) =>
      serve(route, request, response);
  const fail: ErrorRequestHandler = (error, request, response, _next) =>
    serveFailure(error, request, response);

  for (const { name, method, path } of endpoints) {
    app[method === 'POST' ? 'post' : 'get'](path, to(name));
  }
  app.use(to('unknown'));
  app.use(fail);
  return app;
}
