import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { endpoints } from '@gateway/public-api';
import { type RouteName } from '../exchange';

/** Answers one request; never throws and never rejects. */
export type Serve = (route: RouteName, request: IncomingMessage, response: ServerResponse) => void;

export interface AppPorts {
  readonly serve: Serve;
  /** For what fails before or outside of `serve`. */
  readonly serveFailure: (error: unknown, request: IncomingMessage, response: ServerResponse) => void;
}

/**
 * The public routes. Paths match exactly, case and trailing slash included;
 * whatever else is asked for, OPTIONS included, is an unknown route.
 */
export function createApp({ serve, serveFailure }: AppPorts): Express {
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
