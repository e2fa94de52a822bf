import { createClientAddressReader } from '@gateway/addresses';
import { DashboardError } from '@gateway/dashboard-contract';
import { newRequestId } from '@gateway/runtime';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { Counter } from 'prom-client';
import type { DashboardApiPorts } from '../ports';
import { toDashboardError } from '../messages/errors';
import { createDocumentRoutes } from '../handlers/document-routes';
import { isHttps } from './dashboard-url';
import { createCrossSiteGuard, createHostGuard, createSessionGuard } from './guards';
import { requestSpans } from './request-spans';
import { createEndpointRouter } from './router';
import { createHandlers } from '../handlers';
import { startPage } from '../handlers/start-page';
import { createWebAppRoutes } from '../handlers/web-app-routes';

const MAX_BODY_BYTES = 100 * 1024;
/** The request to estimate may contain images. */
const MAX_ESTIMATED_BODY_BYTES = 16 * 1024 * 1024;
/** The size of a request with a catalogue text as JSON. */
const MAX_CATALOGUE_BODY_BYTES = 2 * 1024 * 1024;
/** Powerful features of browsers. The dashboard uses none. Helmet has no such header. */
const PERMISSIONS_POLICY = [
  'accelerometer',
  'camera',
  'clipboard-read',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'local-fonts',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'screen-wake-lock',
  'serial',
  'usb',
]
  .map((feature) => `${feature}=()`)
  .join(', ');
const PLAYGROUND_ESTIMATES = /^\/api\/organizations\/[^/]+\/playground\/estimate$/;
const CATALOGUE = '/api/operator/catalogue';

export function createApp(ports: DashboardApiPorts): Express {
  const { settings } = ports;
  const https = isHttps(settings);
  const app = express();
  app.disable('etag');
  app.set('query parser', 'simple');
  app.enable('case sensitive routing');

  app.use(identifyRequests(ports));
  app.use(readAddresses(settings.trustedProxies ?? []));
  app.use(
    helmet({
      strictTransportSecurity: https,
      contentSecurityPolicy: {
        directives: {
          ...(https ? {} : { upgradeInsecureRequests: null }),
        },
      },
    }),
  );
  app.use((_request, response, next) => {
    response.setHeader('permissions-policy', PERMISSIONS_POLICY);
    next();
  });
  app.use(createHostGuard(settings.publicOrigin));
  if (ports.documents) app.use(createDocumentRoutes(ports.documents));
  if (ports.webApp) {
    // The playground calls the public API, which has its own origin.
    app.use(createWebAppRoutes(ports.webApp, () => originOf(settings.publicApiUrl?.())));
  } else {
    app.get('/', (_request, response) => {
      response.type('html').send(startPage(settings.documentationUrl, ports.documents !== undefined));
    });
  }
  app.use('/api', (_request, response, next) => {
    response.setHeader('cache-control', 'no-store');
    next();
  });
  app.use('/api', requestSpans);
  app.use('/api', createCrossSiteGuard(settings.publicOrigin));
  app.use(PLAYGROUND_ESTIMATES, express.json({ limit: MAX_ESTIMATED_BODY_BYTES }));
  app.use(CATALOGUE, express.json({ limit: MAX_CATALOGUE_BODY_BYTES }));
  app.use('/api', express.json({ limit: MAX_BODY_BYTES }));
  app.use(createEndpointRouter(ports, createHandlers(ports)));
  app.use('/api', createSessionGuard(ports));
  app.use(() => {
    throw new DashboardError('not_found', { message: 'No endpoint has this path and method.' });
  });
  app.use(renderErrors(ports));
  return app;
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

/** Stores the client's address in `response.locals` for handlers. */
function readAddresses(trustedProxies: readonly string[]): RequestHandler {
  const clientAddress = createClientAddressReader(trustedProxies);
  return (request, response, next) => {
    response.locals['clientAddress'] = clientAddress(request) ?? '';
    next();
  };
}

function identifyRequests({ metrics }: DashboardApiPorts): RequestHandler {
  const responses = new Counter({
    name: 'gateway_dashboard_api_responses_total',
    help: 'Responses by HTTP status.',
    labelNames: ['status'],
    registers: [metrics],
  });
  return (_request, response, next) => {
    response.setHeader('x-request-id', newRequestId());
    response.on('finish', () => responses.inc({ status: response.statusCode }));
    next();
  };
}

function renderErrors({ log }: DashboardApiPorts): ErrorRequestHandler {
  return (thrown, request, response, _next) => {
    const error = toDashboardError(thrown);
    if (error.row.httpStatus >= 500) {
      const requestId = response.getHeader('x-request-id');
      log.error({ err: error.cause ?? error, requestId, method: request.method }, 'request failed');
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error.retryAfterMs !== undefined) {
      response.setHeader('retry-after', Math.max(1, Math.ceil(error.retryAfterMs / 1000)));
    }
    response.status(error.row.httpStatus).json(error.envelope());
  };
}
