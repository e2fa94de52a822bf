import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { endpoints } from '@gateway/public-api';
import type { RouteName } from '../exchange';
import { pathOf } from '../request/query';

/** Answers one request; never throws and never rejects. */
type Serve = (route: RouteName, request: IncomingMessage, response: ServerResponse) => void;

export interface AppPorts {
  readonly serve: Serve;
  /** For what fails before or outside of `serve`. */
  readonly serveFailure: (error: unknown, request: IncomingMessage, response: ServerResponse) => void;
}

/**
 * The public routes. Paths match exactly, case and trailing slash included;
 * whatever else is asked for, OPTIONS included, is an unknown route.
 *
 * What is written just as a route is, as nearly every request is, is looked up.
 * Express has the rest, such as HEAD or an address with its host; its walk over
 * the routes would cost as much as all that is checked of a request here.
 */
export function createApp(ports: AppPorts): RequestListener {
  const app = createExpressApp(ports);
  const routes = new Map<string | undefined, Map<string, RouteName>>();
  for (const { name, method, path } of endpoints) {
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

function createExpressApp({ serve, serveFailure }: AppPorts): Express {
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
